/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/user-spec.h"

#define ID_MAX 2147483647 /* the highest that Podman takes */

bool user_spec_parse_id(const char *text, bool *ret_numeric, guint32 *ret, GError **error) {
        guint64 id = 0;

        *ret_numeric = text[0] && !text[strspn(text, "0123456789")];
        if (!*ret_numeric)
                return true;
        if (!g_ascii_string_to_unsigned(text, 10, 0, ID_MAX, &id, NULL))
                return error_set(error, KT_ERROR_USAGE, "id %s is above %d", text, ID_MAX);
        *ret = (guint32) id;
        return true;
}

static bool check_part(const char *text, GError **error) {
        bool numeric;
        guint32 id;

        for (const char *c = text; *c; c++)
                if (g_ascii_isspace(*c) || g_ascii_iscntrl(*c))
                        return error_set(error, KT_ERROR_USAGE, "a name cannot hold blanks");
        /* -1 is no number here, but no name either that an image's /etc/passwd may have for its root. */
        if (text[0] == '-' || text[0] == '+')
                return error_set(error, KT_ERROR_USAGE, "'%s' is neither a number nor a name", text);
        return user_spec_parse_id(text, &numeric, &id, error);
}

bool user_spec_parse(const char *value, char **ret_user, char **ret_group, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ":", -1);
        guint n = g_strv_length(parts);

        if (n > 2)
                return error_set(error, KT_ERROR_USAGE, "user '%s': the form is USER[:GROUP]", value);
        for (guint i = 0; i < n; i++)
                if (!check_part(parts[i], error))
                        return error_prefix(error, "user '%s': ", value);
        if (ret_user)
                *ret_user = g_strdup(n > 0 ? parts[0] : "");
        if (ret_group)
                *ret_group = n > 1 ? g_strdup(parts[1]) : NULL;
        return true;
}

char **user_spec_parse_groups(const char *value, GError **error) {
        g_auto(GStrv) groups = g_strsplit(value, ",", -1);

        if (!*groups || g_strv_contains((const char *const *) groups, ""))
                return error_null(error, KT_ERROR_USAGE, "'%s': the name or number of a group is missing", value);
        if (g_strv_contains((const char *const *) groups, USER_SPEC_KEEP_GROUPS) && groups[1])
                return error_null(error, KT_ERROR_USAGE, USER_SPEC_KEEP_GROUPS " excludes other groups");
        for (char **group = groups; *group; group++)
                if (!check_part(*group, error))
                        return error_prefix_null(error, "group '%s': ", *group);
        return g_steal_pointer(&groups);
}
