/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/key.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/base/path-value.h"

bool key_parse_boolean(const char *text, bool *ret, GError **error) {
        static const char *const yes[] = { "1", "yes", "true", "on" }, *const no[] = { "0", "no", "false", "off" };

        for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
                if (g_ascii_strcasecmp(text, yes[i]) == 0)
                        return *ret = true;
                if (g_ascii_strcasecmp(text, no[i]) == 0) {
                        *ret = false;
                        return true;
                }
        }
        return error_set(error, KT_ERROR_USAGE, "'%s' is neither yes (1, true, on) nor no (0, false, off)", text);
}

/* launch-args names the option in its errors; here it is the key that the user knows. */
static void strip_option(GError *error, const char *option) {
        g_autofree char *prefix = g_strdup_printf("--%s: ", option);

        if (g_str_has_prefix(error->message, prefix))
                memmove(error->message, error->message + strlen(prefix), strlen(error->message + strlen(prefix)) + 1);
}

bool key_set_option(Conversion *container, const char *option, const char *value, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (launch_args_set(container->args, option, value, &problem))
                return true;
        strip_option(problem, option);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool handle_option(Conversion *container, const Key *key, const Value *value, GError **error) {
        return key_set_option(container, key->text, value->text, error);
}

bool handle_nothing(Conversion *container, const Key *key, const Value *value, GError **error) {
        return true;
}

/* In the directory of a file, % and $ are plain characters; in what the user wrote, systemd expands them. */
char *key_resolve_path(const char *directory, const char *path) {
        g_autofree char *escaped = NULL, *joined = NULL;

        if (path[0] == '/' || (path[0] == '%' && path[1] != '%'))
                return g_strdup(path);
        escaped = specifiers_escape(directory, "%$");
        joined = g_build_filename(escaped, path, NULL);
        return path_value_clean(joined);
}
