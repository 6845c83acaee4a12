/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/kinds/install.h"
#include "generator/parts/early.h"
#include "generator/unit/keys.h"
#include "libstart/base/error.h"

/* Would a link of that name be outside of the output directory? */
static bool is_outside(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        return path[0] == '/' || g_strv_contains((const char *const *) parts, "..");
}

/* NAME.service, or UNIT.wants/NAME.service and the like: nothing else means anything to systemd. */
static bool is_alias(const char *path) {
        g_auto(GStrv) parts = g_strsplit(path, "/", -1);

        for (char **part = parts; *part; part++)
                if (!name_is_unit(*part))
                        return false;
        return g_str_has_suffix(path, ".service");
}

static bool handle_alias(Container *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, "/");
        g_autofree char *first = g_strndup(value->text, length);
        const SourceFile *maker = unit_names_maker(container->names, first);

        if (is_outside(value->text))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name that a service can have (NAME.service, or UNIT.wants/NAME.service)",
                                 value->text);
        if (!is_alias(value->text)) {
                container_warning(container, value->line,
                                  "'%s' is no name that a service can have (NAME.service, or "
                                  "UNIT.wants/NAME.service), ignoring",
                                  value->text);
                return true;
        }
        if (maker && (maker != container->source || value->text[length]))
                return error_set(error, KT_ERROR_USAGE, "'%s' is the service of %s", first, maker->path);
        if (!maker)
                service_link(container->service, g_strdup(value->text));
        return true;
}

static bool handle_also(Container *container, const Key *key, const Value *value, GError **error) {
        container_warning(container, value->line, "other units are not enabled by this, ignoring");
        return true;
}

/* The name of the links: the service, or a template's default instance. NULL where a template has no default.
 * Transfer full. */
static char *find_instance(const Container *container) {
        const UnitLine *line = container_line(container, "Install", "DefaultInstance");
        const char *service = container->service->name;

        if (!name_is_template(service))
                return g_strdup(service);
        return line && line->value[0] ? name_instance(service, line->value) : NULL;
}

static bool handle_default_instance(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *instance = find_instance(container);

        if (instance && !name_is_unit(instance))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", instance);
        return true;
}

static bool add_wanted(Container *container, const char *unit, const char *suffix) {
        g_autofree char *instance = find_instance(container);

        if (instance)
                service_link(container->service, g_strconcat(unit, ".", suffix, "/", instance, NULL));
        return instance;
}

/* WantedBy= and its like; key->text says which directory. */
static bool handle_wanted(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *instance = find_instance(container);

        if (!instance && strchr(value->text, '%'))
                container_warning(container, value->line,
                                  "'%s' does nothing for a template without DefaultInstance=, ignoring", value->text);
        else if (!name_is_unit(value->text))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", value->text);
        else
                (void) add_wanted(container, value->text, key->text);
        return true;
}

static const Key install_keys[] = {
        { "Alias", READ_WORDS, handle_alias, NULL },
        { "Also", READ_WORDS, handle_also, NULL },
        { "DefaultInstance", READ_LAST_SET, handle_default_instance, NULL },
        { "RequiredBy", READ_WORDS, handle_wanted, "requires" },
        { "UpheldBy", READ_WORDS, handle_wanted, "upholds" },
        { "WantedBy", READ_WORDS, handle_wanted, "wants" },
};

void install_apply(Container *container) {
        static const KeyTable keys = { "Install", install_keys, G_N_ELEMENTS(install_keys), .is_open = true };
        const char *early = early_wanted_by(container);

        keys_apply(container, &keys);
        if (early && add_wanted(container, early, "wants"))
                service_comment(container->service, "Wanted by %s, for Early=yes: [Install] does not say by what.",
                                early);
}
