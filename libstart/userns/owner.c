/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/keyring.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/userns/owner.h"
#include "libstart/userns/subid.h"
#include "libstart/userns/user-record.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/value/id-map.h"
#include "libstart/value/user-spec.h"

static bool check_identity(const UserIdentity *identity, const char *spec, GError **error) {
        if (identity->uid == 0)
                return error_set(error, KT_ERROR_USAGE, "'%s' is root, which all other containers belong to", spec);
        return identity->in_passwd || identity->explicit_group ||
               error_set(error, KT_ERROR_NOT_FOUND,
                         "'%s' is not in /etc/passwd: say a group, too (Group= in [Service])", spec);
}

static void add_group(GArray *groups, gid_t gid) {
        for (guint i = 0; i < groups->len; i++)
                if (g_array_index(groups, gid_t, i) == gid)
                        return;
        g_array_append_val(groups, gid);
}

#define GROUPS_MAX 1024 /* as many as Linux had for long; more are an error */

/* Those of SupplementaryGroups=. */
static bool add_own_groups(GArray *groups, GError **error) {
        gid_t own[GROUPS_MAX];
        int n = getgroups(GROUPS_MAX, own);

        for (int i = 0; i < n; i++)
                add_group(groups, own[i]);
        return n >= 0 || error_set_errno(error, errno, "Cannot read the groups of this process");
}

/* Those whom files know beside /etc/passwd and /etc/group, where these do not know the user. */
static bool add_record(const char *root, const char *name, char **passwd, char **group, GError **error) {
        g_auto(UserIdentity) known = { 0 };

        return (user_resolve(name, *passwd, *group, &known, NULL) && known.in_passwd) ||
               user_record_add(root, name, passwd, group, error);
}

/* A group that is named leaves the user those of /etc/group, as systemd does. */
bool owner_resolve(const char *root, const char *spec, UserIdentity *ret, GError **error) {
        g_autofree char *passwd_path = g_strconcat(root, "/etc/passwd", NULL),
                        *group_path = g_strconcat(root, "/etc/group", NULL), *passwd = NULL, *group = NULL,
                        *name = NULL;
        g_auto(UserIdentity) alone = { 0 };
        g_auto(UserIdentity) identity = { 0 };

        if (!file_read(passwd_path, &passwd, NULL, error) || !file_read(group_path, &group, NULL, error) ||
            !user_spec_parse(spec, &name, NULL, error) || !add_record(root, name, &passwd, &group, error))
                return false;
        if (!user_resolve(name, passwd, group, &alone, NULL) || !user_resolve(spec, passwd, group, &identity, NULL))
                return error_set(
                        error, KT_ERROR_NOT_FOUND,
                        "'%s' is not in /etc/passwd and /etc/group of this machine, nor has /etc/userdb a record: "
                        "make it, or name another",
                        spec);
        if (!check_identity(&identity, spec, error))
                return false;
        for (guint i = 0; identity.explicit_group && alone.name && i < alone.additional_gids->len; i++)
                add_group(identity.additional_gids, g_array_index(alone.additional_gids, gid_t, i));
        *ret = identity;
        identity = (UserIdentity) { 0 };
        return true;
}

bool owner_find(UsernsRequest *request, Owner *ret, GError **error) {
        UserIdentity *identity = &ret->identity;

        if (!owner_resolve("", request->owner, identity, error) || !add_own_groups(identity->additional_gids, error))
                return error_prefix(error, "The user that the container belongs to (User= in [Service]): ");
        ret->subid_name = identity->name ? g_strdup(identity->name) : g_strdup_printf("%u", identity->uid);
        if (request->mode == USERNS_KEEP_ID && request->uid == USERNS_ID_UNSAID)
                request->uid = identity->uid;
        if (request->mode == USERNS_KEEP_ID && request->gid == USERNS_ID_UNSAID)
                request->gid = identity->gid;
        return true;
}

/*
 * Which ids it has
 */

/* The user's own id has the place `own`, if any; the further ones fill the others, from 0 on. */
static GArray *make_map(const GArray *ranges, guint32 own, guint32 outside, IdKind kind, GError **error) {
        g_autoptr(GArray) map = id_map_new();
        IdExtent extent = { own, outside, 1 };
        guint32 inside = 0;

        if (own != USERNS_ID_UNSAID)
                g_array_append_val(map, extent);
        for (guint i = 0; i < ranges->len; i++) {
                IdRange left = g_array_index(ranges, IdRange, i);

                while (left.count > 0 && inside < G_MAXUINT32 - 1) {
                        inside += inside == own;
                        extent = (IdExtent) { inside, left.first,
                                              MIN(left.count, (inside < own ? own : G_MAXUINT32) - inside) };
                        g_array_append_val(map, extent);
                        inside += extent.count;
                        left.first += extent.count;
                        left.count -= extent.count;
                }
        }
        return id_map_finish(map, kind, error) ? g_steal_pointer(&map) : NULL;
}

/* NULL is an error; none are an empty array. */
static GArray *find_further(const char *path, const char *name, GError **error) {
        GError *problem = NULL;
        GArray *ranges = subid_find(path, name, &problem);

        if (ranges)
                return ranges;
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_error(error, problem);
                return NULL;
        }
        log_notice("The container has one id, and no others: %s", problem->message);
        g_error_free(problem);
        return g_array_new(FALSE, FALSE, sizeof(IdRange));
}

bool owner_map_ids(const UsernsRequest *request, const Owner *owner, GArray **ret_uids, GArray **ret_gids,
                   GError **error) {
        bool is_kept = request->mode == USERNS_KEEP_ID;
        g_autoptr(GArray) uids = find_further(PATH_SUBUID, owner->subid_name, error), gids = NULL;

        gids = uids ? find_further(PATH_SUBGID, owner->subid_name, error) : NULL;
        if (!gids)
                return false;
        *ret_uids = make_map(uids, is_kept ? request->uid : 0, owner->identity.uid, ID_UID, error);
        if (*ret_uids)
                *ret_gids = make_map(gids, is_kept ? request->gid : 0, owner->identity.gid, ID_GID, error);
        return *ret_uids && *ret_gids;
}

bool owner_map_ids_of_view(const UsernsRequest *request, GArray **ret_uids, GArray **ret_gids, GError **error) {
        bool is_kept = request->mode == USERNS_KEEP_ID;
        g_autoptr(GArray) uids = NULL, gids = NULL;

        if (!userns_descriptor_read_further(&uids, &gids, error))
                return false;
        if (uids->len == 0 || gids->len == 0)
                return error_set(error, KT_ERROR_USAGE,
                                 "UserNS=%s needs further ids for this user, in " PATH_SUBUID " and " PATH_SUBGID
                                 ": add some (usermod --add-subuids), and systemctl --user restart keyturn-view",
                                 request->text);
        *ret_uids = make_map(uids, is_kept ? request->uid : USERNS_ID_UNSAID, 0, ID_UID, error);
        if (*ret_uids)
                *ret_gids = make_map(gids, is_kept ? request->gid : USERNS_ID_UNSAID, 0, ID_GID, error);
        return *ret_uids && *ret_gids;
}

/*
 * Its rights
 */

static int set_groups(const GArray *groups) {
        return setgroups(groups->len, (const gid_t *) (const void *) groups->data);
}

/* With the id of a user the kernel takes back the capabilities that concern files (capabilities(7)); setfsuid(2) says
 * nothing of a failure but when it is asked once more. */
void owner_take_rights(const Owner *owner) {
        if (!owner)
                return;
        if (set_groups(owner->identity.additional_gids) == 0) {
                setfsgid(owner->identity.gid);
                setfsuid(owner->identity.uid);
                if (setfsgid((gid_t) -1) == (int) owner->identity.gid &&
                    setfsuid((uid_t) -1) == (int) owner->identity.uid)
                        return;
        }
        log_error("Cannot take the rights of the user %u", owner->identity.uid);
        abort(); /* whoever is here was about to open what the user may not */
}

/* More groups do no harm meanwhile: this process is root. */
void owner_leave_rights(const Owner *owner) {
        int saved = errno;

        if (owner) {
                setfsuid(geteuid());
                setfsgid(getegid());
        }
        errno = saved;
}

/* No core of it may be hers, nor /proc/PID. Who changes ids gets what fs.suid_dumpable says, which may be more. */
static bool hide_memory(void) {
        return prctl(PR_SET_DUMPABLE, 0) == 0;
}

bool owner_become(const Owner *owner, int userns_fd, GError **error) {
        if (!owner_keep_groups(owner, error) || !keyring_join_new(NULL, error))
                return false;
        if (setns(userns_fd, CLONE_NEWUSER) < 0 || !hide_memory() || setresgid(0, 0, 0) < 0 || !hide_memory() ||
            setresuid(0, 0, 0) < 0 || !hide_memory() || unshare(CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot become the user %u", owner->identity.uid);
        user_view_assume();
        return true;
}

bool owner_keep_groups(const Owner *owner, GError **error) {
        return !owner || set_groups(owner->identity.additional_gids) == 0 ||
               error_set_errno(error, errno, "Cannot take the groups of the user %u", owner->identity.uid);
}

void owner_clear(Owner *owner) {
        user_identity_clear(&owner->identity);
        g_clear_pointer(&owner->subid_name, g_free);
}
