/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/oci/user.h"
#include "libstart/root/etc-content.h"
#include "tests/fuzz/fuzz.h"

static bool is_number(const char *text) {
        return *text && !text[strspn(text, "0123456789")];
}

/* Some line of passwd gives this id to the name. */
static bool has_entry(const char *passwd, const char *name, uid_t uid) {
        g_auto(GStrv) lines = g_strsplit(passwd, "\n", -1);

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(g_strstrip(*line), ":", -1);

                if (g_strv_length(fields) >= 4 && g_str_equal(fields[0], name) && is_number(fields[2]) &&
                    strtoull(fields[2], NULL, 10) == uid)
                        return true;
        }
        return false;
}

/* Nobody is root who was not called so: neither by a number that is too large nor by a broken line. */
static void check_uid(const char *spec, const char *passwd, uid_t uid) {
        g_autofree char *name = g_strndup(spec, strcspn(spec, ":"));

        if (is_number(name))
                require(strtoull(name, NULL, 10) == uid, "user %s has the id %u", name, uid);
        else if (*name)
                require(has_entry(passwd, name, uid), "no line gives the user '%s' the id %u", name, uid);
        else
                require(uid == 0, "nobody asked for the id %u", uid);
}

static void check_groups(const GArray *gids) {
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (guint i = 0; i < gids->len; i++)
                require(g_hash_table_add(seen, GUINT_TO_POINTER(g_array_index(gids, gid_t, i))),
                        "group %u is there twice", g_array_index(gids, gid_t, i));
}

/* With the line that is added, the user has an entry; nothing but that line is added. */
static void check_passwd(const UserIdentity *user, const char *passwd) {
        g_autofree char *number = g_strdup_printf("%u", user->uid),
                        *text = etc_passwd(passwd, user, NULL, "/a:b\n/c");
        g_auto(UserIdentity) again = { 0 };
        const char *added;

        if (!text)
                return;
        require(g_str_has_prefix(text, passwd), "another /etc/passwd");
        added = text + strlen(passwd);
        added += *passwd && *added == '\n';
        g_auto(GStrv) fields = g_strsplit(added, ":", -1);
        require(strchr(added, '\n') == added + strlen(added) - 1 && g_strv_length(fields) == 7, "'%s' is added",
                added);
        require(user_resolve(number, text, NULL, &again, NULL) && again.in_passwd && again.gid == user->gid,
                "user %u has no entry", user->uid);
}

static void check_group(const UserIdentity *user, const char *group) {
        g_autofree char *text = etc_group(group, user, NULL);

        require(!text || g_str_has_prefix(text, group), "another /etc/group");
}

/* USER[:GROUP], and the container's passwd and group. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_auto(GStrv) parts = fuzz_parts(data, size, 3);
        g_auto(UserIdentity) user = { 0 };
        g_autoptr(GError) error = NULL;
        bool ok;

        g_strchomp(parts[0]);
        ok = user_resolve(parts[0], parts[1], parts[2], &user, &error);
        require_error(ok, error, parts[0]);
        if (!ok)
                return 0;
        check_uid(parts[0], parts[1], user.uid);
        check_groups(user.additional_gids);
        require(user.home[0] == '/', "the home is '%s'", user.home);
        check_passwd(&user, parts[1]);
        check_group(&user, parts[2]);
        return 0;
}
