/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/userns/subid.h"
#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/oci/user.h"

static bool parse_line(const char *line, const char *user, IdRange *ret) {
        g_auto(GStrv) fields = g_strsplit(line, ":", 4);
        guint64 first, count;

        if (g_strv_length(fields) != 3 || (user && !g_str_equal(fields[0], user)) ||
            !g_ascii_string_to_unsigned(g_strstrip(fields[1]), 10, 0, G_MAXUINT32 - 1, &first, NULL) ||
            !g_ascii_string_to_unsigned(g_strstrip(fields[2]), 10, 1, G_MAXUINT32, &count, NULL))
                return false;
        *ret = (IdRange) { (guint32) first, (guint32) MIN(count, G_MAXUINT32 - first) };
        return true;
}

GArray *subid_parse(const char *text, const char *user) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(IdRange));
        IdRange range;

        for (char **line = lines; *line; line++)
                if (parse_line(*line, user, &range))
                        g_array_append_val(ranges, range);
        return ranges;
}

char *subid_name(uid_t uid, GError **error) {
        g_autofree char *passwd = NULL, *number = g_strdup_printf("%u", uid);
        g_auto(UserIdentity) identity = { 0 };

        if (!file_read("/etc/passwd", &passwd, NULL, error))
                return NULL;
        if (!user_resolve(number, passwd, NULL, &identity, NULL) || !identity.name)
                return g_steal_pointer(&number);
        return g_strdup(identity.name);
}

GArray *subid_find(const char *path, const char *user, GError **error) {
        g_autofree char *text = NULL;
        g_autoptr(GArray) ranges = NULL;

        if (!file_read(path, &text, NULL, error))
                return NULL;
        ranges = subid_parse(text ?: "", user);
        if (ranges->len > 0)
                return g_steal_pointer(&ranges);
        return error_null(
                error, KT_ERROR_NOT_FOUND,
                "'%s' has no ids for '%s': add a line '%s:FIRST:COUNT' with ids that nobody on this machine has, "
                "such as %s:2147483647:2147483648",
                path, user, user, user);
}
