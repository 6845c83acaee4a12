/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"
#include "libstart/oci/user.h"
#include "libstart/userns/user-record.h"

#define DEPTH_MAX 16

/* Neither a field of passwd(5) more, nor a line. */
static bool is_one_word(const char *name) {
        return name && *name && !strpbrk(name, ":,\n");
}

static void append_line(char **text, char *line) {
        char *all = g_strconcat(*text ?: "", "\n", line, NULL);

        g_free(*text);
        g_free(line);
        *text = all;
}

/* A group that is not there gives no rights. */
static void append_group(const char *user, yajl_val value, const char *passwd, char **group) {
        const char *name = YAJL_GET_STRING(value);
        g_autofree char *spec = g_strdup_printf("%s:%s", user, name ?: "");
        g_auto(UserIdentity) member = { 0 };

        if (is_one_word(name) && user_resolve(spec, passwd, *group, &member, NULL))
                append_line(group, g_strdup_printf("%s:x:%u:%s", name, member.gid, user));
}

/* Without a group of its own a user has the one of its number. */
static bool read_ids(yajl_val record, guint64 *ret_uid, guint64 *ret_gid, GError **error) {
        yajl_val uid = json_map_value(record, "uid", yajl_t_number),
                 gid = json_map_value(record, "gid", yajl_t_number);

        if (!uid)
                return error_set(error, KT_ERROR_FAILED, "it has no uid");
        return json_get_number(uid, G_MAXUINT32 - 1, ret_uid, error) &&
               json_get_number(gid ?: uid, G_MAXUINT32 - 1, ret_gid, error);
}

static bool append_record(yajl_val record, char **passwd, char **group, GError **error) {
        yajl_val name = json_map_value(record, "userName", yajl_t_string);
        yajl_val groups = json_map_value(record, "memberOf", yajl_t_array);
        yajl_val home = json_map_value(record, "homeDirectory", yajl_t_string);
        guint64 uid = 0, gid = 0;

        if (!name || !is_one_word(YAJL_GET_STRING(name)))
                return error_set(error, KT_ERROR_FAILED, "it has no userName");
        if (!read_ids(record, &uid, &gid, error))
                return false;
        append_line(passwd,
                    g_strdup_printf("%s:x:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT "::%s:", YAJL_GET_STRING(name),
                                    uid, gid, is_one_word(YAJL_GET_STRING(home)) ? YAJL_GET_STRING(home) : ""));
        for (size_t i = 0; groups && i < groups->u.array.len; i++)
                append_group(YAJL_GET_STRING(name), groups->u.array.values[i], *passwd, group);
        return true;
}

bool user_record_append(const char *text, gsize length, char **passwd, char **group, GError **error) {
        static const char *const names[] = { "userName", "uid", "gid", "memberOf", "homeDirectory", NULL };
        g_auto(yajl_val) record = json_parse_names(text, length, DEPTH_MAX, names, error);

        return record && append_record(record, passwd, group, error);
}

bool user_record_add(const char *root, const char *name, char **passwd, char **group, GError **error) {
        static const char *const directories[] = { "/etc/userdb", "/run/userdb", "/run/host/userdb",
                                                   "/usr/lib/userdb" };
        g_autofree char *file = g_strconcat(name, ".user", NULL);
        bool is_name = name[0] != '.' && !strchr(name, '/');

        for (size_t i = 0; is_name && i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_strconcat(root, directories[i], "/", file, NULL), *text = NULL;
                size_t length;

                if (!file_read(path, &text, &length, error))
                        return false;
                if (!text)
                        continue;
                if (user_record_append(text, length, passwd, group, error))
                        return true;
                return error_prefix(error, "'%s': ", path);
        }
        return true;
}
