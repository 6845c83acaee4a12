/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/early.h"
#include "generator/install.h"
#include "generator/names.h"
#include "generator/values.h"

typedef struct Install {
        Container *container;
        const UnitNames *names;
        const char *instance; /* what the links are called: the service, or the default instance of a template */
} Install;

/* Each part a plain name, so that no link is made outside of the output directory. */
static bool is_below(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        for (char **part = parts; *part; part++)
                if (!name_is_unit(*part) || g_str_has_prefix(*part, ".."))
                        return false;
        return true;
}

static void add_alias(Install *install, const Value *value, const char *suffix) {
        size_t length = strcspn(value->text, "/");
        g_autofree char *first = g_strndup(value->text, length);
        const SourceFile *maker = unit_names_maker(install->names, first);

        if (!is_below(value->text) || !g_str_has_suffix(value->text, ".service"))
                container_problem(
                        install->container, value->line,
                        "'%s' is no name that a service can have (NAME.service, or UNIT.wants/NAME.service)",
                        value->text);
        else if (maker && (maker != install->container->source || value->text[length]))
                container_problem(install->container, value->line, "'%s' is the service of %s", first, maker->path);
        else if (!maker)
                service_link(install->container->service, g_strdup(value->text));
}

static void add_wanted(Install *install, const Value *value, const char *suffix) {
        if (!name_is_unit(value->text))
                container_problem(install->container, value->line, "'%s' is no name of a unit", value->text);
        else if (install->instance)
                service_link(install->container->service,
                             g_strconcat(value->text, ".", suffix, "/", install->instance, NULL));
}

static void warn_also(Install *install, const Value *value, const char *suffix) {
        container_warning(install->container, value->line, "other units are not enabled by this, ignoring");
}

static const struct {
        const char *key;
        void (*add)(Install *install, const Value *value, const char *suffix);
        const char *suffix;
} keys[] = {
        { "Alias", add_alias, NULL },
        { "Also", warn_also, NULL },
        { "RequiredBy", add_wanted, "requires" },
        { "UpheldBy", add_wanted, "upholds" },
        { "WantedBy", add_wanted, "wants" },
};

/* `lines` and `values` are memory to use. */
static void apply_key(Install *install, const UnitSection *section, size_t key, GPtrArray *lines, GArray *values) {
        g_autoptr(GError) error = NULL;
        const UnitLine *bad = NULL;

        g_ptr_array_set_size(lines, 0);
        g_array_set_size(values, 0);
        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && g_str_equal(line->key, keys[key].key))
                        g_ptr_array_add(lines, (void *) line);
        }
        if (!values_read(values, lines, READ_WORDS, &bad, &error))
                container_problem(install->container, bad, "%s", error->message);
        for (guint i = 0; i < values->len; i++)
                keys[key].add(install, &g_array_index(values, Value, i), keys[key].suffix);
}

static void apply_section(Install *install, const UnitSection *section) {
        g_autoptr(GPtrArray) lines = g_ptr_array_new();
        g_autoptr(GArray) values = values_new();

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                apply_key(install, section, i, lines, values);
}

/* NULL where a template has none. Transfer full. */
static char *find_instance(Container *container, const UnitSection *section) {
        const char *service = container->service->name;
        const UnitLine *line = unit_section_last(section, "DefaultInstance");
        g_autofree char *instance = NULL;

        if (!name_is_template(service))
                return g_strdup(service);
        if (!line || !line->value[0])
                return NULL;
        instance = name_instance(service, line->value);
        if (!name_is_unit(instance)) {
                container_problem(container, line, "'%s' is no name of a unit", instance);
                return NULL;
        }
        return g_steal_pointer(&instance);
}

void install_links(Container *container, const UnitNames *names) {
        const UnitSection *section = unit_file_section(container->source->unit, "Install");
        const char *early = early_wanted_by(container);
        g_autofree char *instance = section || early ? find_instance(container, section) : NULL;
        Install install = { container, names, instance };

        if (section)
                apply_section(&install, section);
        if (early && instance) {
                service_link(container->service, g_strdup_printf("%s.wants/%s", early, instance));
                service_comment(container->service, "Wanted by %s, for Early=yes: [Install] does not say by what.",
                                early);
        }
}
