/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/oci/user.h"
#include "libstart/value/user-spec.h"

/* Fields of a line in passwd(5) and group(5). */
enum {
        PASSWD_NAME = 0,
        PASSWD_UID = 2,
        PASSWD_GID = 3,
        PASSWD_HOME = 5,
        PASSWD_SHELL = 6,
        GROUP_NAME = 0,
        GROUP_GID = 2,
        GROUP_MEMBERS = 3,
};

/* A name or an id, as it is looked for in a file. */
typedef struct Wanted {
        const char *text;
        bool numeric;
        guint32 id;
} Wanted;

static bool parse_wanted(const char *text, Wanted *ret, GError **error) {
        ret->text = text;
        return user_spec_parse_id(text, &ret->numeric, &ret->id, error);
}

static bool parse_id(const char *text, guint32 *ret) {
        bool numeric = false;

        return user_spec_parse_id(text, &numeric, ret, NULL) && numeric;
}

static bool matches(const Wanted *wanted, const char *name, guint32 id) {
        return wanted->numeric ? wanted->id == id : g_str_equal(wanted->text, name);
}

/* The files are the image's, which may have made them as large as can be: no line is taken into more pieces than are
 * asked for, and no list is searched for each of its elements. */

/* The fields of a line; NULL for one that is empty or a comment, or has fewer than `least` fields. Moves
 * *p behind the line. */
static char **next_fields(const char **p, guint least) {
        const char *end = strchrnul(*p, '\n');
        g_autofree char *line = g_strstrip(g_strndup(*p, (gsize) (end - *p)));
        g_auto(GStrv) fields = g_strsplit(line, ":", PASSWD_SHELL + 1);

        *p = *end ? end + 1 : end;
        return line[0] == '#' || g_strv_length(fields) < least ? NULL : g_steal_pointer(&fields);
}

/* The first entry that fits sets *ret. An entry whose ids are no numbers is skipped: reading them as 0
 * would make its user root. */
static bool find_user(const char *passwd, const Wanted *wanted, UserIdentity *identity) {
        for (const char *p = passwd; *p;) {
                g_auto(GStrv) fields = next_fields(&p, PASSWD_GID + 1);
                guint32 uid, gid;

                if (!fields || !parse_id(fields[PASSWD_UID], &uid) || !parse_id(fields[PASSWD_GID], &gid) ||
                    !matches(wanted, fields[PASSWD_NAME], uid))
                        continue;
                identity->uid = uid;
                identity->gid = gid;
                identity->name = g_strdup(fields[PASSWD_NAME]);
                identity->in_passwd = true;
                if (g_strv_length(fields) > PASSWD_HOME && fields[PASSWD_HOME][0] == '/')
                        identity->home = g_strdup(fields[PASSWD_HOME]);
                return true;
        }
        return false;
}

static bool find_group(const char *group, const Wanted *wanted, gid_t *ret) {
        for (const char *p = group; *p;) {
                g_auto(GStrv) fields = next_fields(&p, GROUP_GID + 1);
                guint32 gid;

                if (!fields || !parse_id(fields[GROUP_GID], &gid) || !matches(wanted, fields[GROUP_NAME], gid))
                        continue;
                *ret = gid;
                return true;
        }
        return false;
}

void user_identity_add_group(UserIdentity *identity, gid_t gid) {
        for (guint i = 0; i < identity->additional_gids->len; i++)
                if (g_array_index(identity->additional_gids, gid_t, i) == gid)
                        return;
        g_array_append_val(identity->additional_gids, gid);
}

static bool has_member(const char *members, const char *user) {
        size_t length = strlen(user);

        for (const char *member = members;; member++) {
                size_t n = strcspn(member, ",");

                if (n == length && strncmp(member, user, length) == 0)
                        return true;
                member += n;
                if (!*member)
                        return false;
        }
}

static void add_memberships(GArray *gids, const char *group, const char *user) {
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (guint i = 0; i < gids->len; i++)
                g_hash_table_add(seen, GUINT_TO_POINTER(g_array_index(gids, gid_t, i)));
        for (const char *p = group; *p;) {
                g_auto(GStrv) fields = next_fields(&p, GROUP_MEMBERS + 1);
                guint32 gid;

                if (fields && parse_id(fields[GROUP_GID], &gid) && has_member(fields[GROUP_MEMBERS], user) &&
                    g_hash_table_add(seen, GUINT_TO_POINTER(gid)))
                        g_array_append_val(gids, gid);
        }
}

static bool resolve_user(const char *user, const char *passwd, UserIdentity *identity, GError **error) {
        Wanted wanted;

        if (!parse_wanted(*user ? user : "0", &wanted, error))
                return false;
        if (find_user(passwd, &wanted, identity))
                return true;
        if (!wanted.numeric)
                return error_set(error, KT_ERROR_USAGE,
                                 "There is no user '%s' in the container's /etc/passwd: name one that is, or write "
                                 "the number",
                                 user);
        identity->uid = wanted.id;
        identity->gid = 0;
        return true;
}

static bool resolve_group(const char *name, const char *group, gid_t *ret, GError **error) {
        Wanted wanted;

        if (!parse_wanted(name, &wanted, error))
                return false;
        if (find_group(group, &wanted, ret))
                return true;
        if (!wanted.numeric)
                return error_set(error, KT_ERROR_USAGE,
                                 "There is no group '%s' in the container's /etc/group: name one that is, or write "
                                 "the number",
                                 name);
        *ret = wanted.id;
        return true;
}

bool user_resolve(const char *spec, const char *passwd, const char *group, UserIdentity *ret, GError **error) {
        g_auto(UserIdentity) identity = { .additional_gids = g_array_new(FALSE, FALSE, sizeof(gid_t)) };
        g_autofree char *user_part = NULL, *group_part = NULL;

        spec = spec ?: "";
        passwd = passwd ?: "";
        group = group ?: "";
        if (!user_spec_parse(spec, &user_part, &group_part, error) ||
            !resolve_user(user_part, passwd, &identity, error))
                return false;
        identity.explicit_group = group_part && *group_part;
        if (identity.explicit_group && !resolve_group(group_part, group, &identity.gid, error))
                return false;

        identity.home = identity.home ?: g_strdup("/");
        if (*spec) /* podman names the primary group among the others only where a user was asked for */
                user_identity_add_group(&identity, identity.gid);
        if (!identity.explicit_group && identity.name)
                add_memberships(identity.additional_gids, group, identity.name);
        *ret = identity;
        identity = (UserIdentity) { 0 };
        return true;
}

bool user_add_groups(UserIdentity *identity, const GPtrArray *groups, const char *group, GError **error) {
        for (guint i = 0; i < groups->len; i++) {
                gid_t gid = 0;

                if (!resolve_group(groups->pdata[i], group ?: "", &gid, error))
                        return false;
                user_identity_add_group(identity, gid);
        }
        return true;
}

void user_identity_clear(UserIdentity *identity) {
        g_clear_pointer(&identity->additional_gids, g_array_unref);
        g_clear_pointer(&identity->name, g_free);
        g_clear_pointer(&identity->home, g_free);
}
