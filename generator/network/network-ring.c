/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/network/network-ring.h"
#include "libstart/base/error.h"

/* The service that a value of Network= or Pod= waits for. Transfer full; NULL: none that is known here. */
static char *find_awaited(const UnitNames *names, const char *value) {
        static const char of[] = "container:";

        if (g_str_has_prefix(value, of))
                return g_strdup(unit_names_container(names, value + strlen(of)));
        if (g_str_has_suffix(value, ".container") || g_str_has_suffix(value, ".pod"))
                return unit_names_translate(names, value, NULL);
        return NULL;
}

/* Of a template, "%i" is the same instance. */
static bool is_same(const char *service, const char *own) {
        g_autofree char *instance = name_is_template(own) ? name_instance(own, "%i") : NULL;

        return g_str_equal(service, own) || g_strcmp0(service, instance) == 0;
}

static bool leads_to(const UnitNames *names, const char *service, const char *own, GPtrArray *seen);

static bool value_leads_to(const UnitNames *names, const char *value, const char *own, GPtrArray *seen) {
        g_autofree char *awaited = find_awaited(names, value);

        return awaited && leads_to(names, awaited, own, seen);
}

/* An empty Network= takes back those before, and of Pod= the last one counts. */
static bool section_leads_to(const UnitNames *names, const UnitSection *section, const char *own, GPtrArray *seen) {
        const UnitLine *pod = unit_section_last(section, "Pod");

        if (pod && value_leads_to(names, pod->value, own, seen))
                return true;
        for (guint i = section ? section->lines->len : 0; i > 0; i--) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i - 1);

                if (g_strcmp0(line->key, "Network") != 0)
                        continue;
                if (!line->value[0])
                        return false;
                if (value_leads_to(names, line->value, own, seen))
                        return true;
        }
        return false;
}

/* seen: files that need not be looked at again. */
static bool leads_to(const UnitNames *names, const char *service, const char *own, GPtrArray *seen) {
        g_autofree char *template = name_template_of(service);
        const SourceFile *source = unit_names_maker(names, service) ?:
                                           (template ? unit_names_maker(names, template) : NULL);

        if (is_same(service, own))
                return true;
        if (!source || !source->unit || g_ptr_array_find(seen, source, NULL))
                return false;
        g_ptr_array_add(seen, (SourceFile *) source);
        return section_leads_to(names, unit_file_section(source->unit, name_section(source->name)), own, seen);
}

bool network_ring_check(const Conversion *container, const char *given, const char *service, GError **error) {
        g_autoptr(GPtrArray) seen = g_ptr_array_new();
        const char *own = container->service->name;

        if (is_same(service, own))
                return error_set(error, KT_ERROR_USAGE, "'%s' is this one itself, and has no other network to join",
                                 given);
        return !leads_to(container->names, service, own, seen) ||
               error_set(error, KT_ERROR_USAGE, "'%s' joins the network of this one: they wait for each other",
                         given);
}
