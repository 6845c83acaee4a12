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

static bool handle_alias(Conversion *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, "/");
        g_autofree char *first = g_strndup(value->text, length);
        const SourceFile *maker = unit_names_maker(container->names, first);

        if (is_outside(value->text))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name that a service can have (NAME.service, or UNIT.wants/NAME.service)",
                                 value->text);
        if (!is_alias(value->text)) {
                conversion_warning(container, value->line,
                                   "'%s' is no name that a service can have (NAME.service, or "
                                   "UNIT.wants/NAME.service), ignoring",
                                   value->text);
                return true;
        }
        if (maker && (maker != container->source || value->text[length]))
                return error_set(error, KT_ERROR_USAGE, "'%s' is the service of %s", first, maker->path);
        if (!maker)
                service_link(container->service, g_strdup(value->text), container->service->name);
        return true;
}

static bool handle_also(Conversion *container, const Key *key, const Value *value, GError **error) {
        conversion_warning(container, value->line, "other units are not enabled by this, ignoring");
        return true;
}

/* The name of the links: the service, or a template's default instance. NULL where a template has no default.
 * Transfer full. */
static char *find_instance(const Conversion *container) {
        const UnitLine *line = conversion_line(container, "Install", "DefaultInstance");
        const char *service = container->service->name;
        g_autofree char *instance = line ? words_unquote(line->value) : NULL;

        if (!name_is_template(service))
                return g_strdup(service);
        return instance && instance[0] ? name_instance(service, instance) : NULL;
}

static bool handle_default_instance(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *instance = find_instance(container);

        if (instance && !name_is_unit(instance))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", instance);
        return true;
}

/* Where the instance has a file of its own, that one says the same perhaps, by the same link to its own service. */
static bool add_wanted(Conversion *container, const char *unit, const char *suffix) {
        g_autofree char *instance = find_instance(container);

        if (instance)
                service_link(container->service, g_strconcat(unit, ".", suffix, "/", instance, NULL),
                             unit_names_maker(container->names, instance) ? instance : container->service->name);
        return instance;
}

/* "multi-user" is what people call it. */
static bool check_wanting(const UnitNames *names, const char *unit, GError **error) {
        g_autofree char *service = g_strconcat(unit, ".service", NULL), *target = g_strconcat(unit, ".target", NULL);

        if (name_is_unit(unit))
                return true;
        if (!strpbrk(unit, ".@") && name_is_unit(target))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit; is '%s' meant?", unit,
                                 unit_names_maker(names, service) ? service : target);
        return error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit", unit);
}

/* Users' managers do not have that target, and say nothing of it. Beside another one it is for the system's. */
static void check_reached(Conversion *container, const Value *value) {
        if (container->is_users && g_str_equal(value->line->value, "multi-user.target"))
                conversion_warning(container, value->line,
                                   "a user's manager has no multi-user.target, so nothing starts this: write "
                                   "default.target");
}

/* WantedBy= and its like; key->text says which directory. */
static bool handle_wanted(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *instance = find_instance(container);

        if (!instance && strchr(value->text, '%'))
                conversion_warning(container, value->line,
                                   "'%s' does nothing for a template without DefaultInstance=, ignoring",
                                   value->text);
        else if (!check_wanting(container->names, value->text, error))
                return false;
        else if (add_wanted(container, value->text, key->text))
                check_reached(container, value);
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

void install_apply(Conversion *container) {
        static const KeyTable keys = { "Install", install_keys, G_N_ELEMENTS(install_keys), .is_open = true };
        const char *early = early_wanted_by(container);

        keys_apply(container, &keys);
        if (early && add_wanted(container, early, "wants"))
                service_comment(container->service, "Wanted by %s, for Early=yes: [Install] does not say by what.",
                                early);
}
