/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/host-path.h"
#include "libstart/mount/root-file.h"
#include "libstart/request/mount-request.h"
#include "libstart/root/identity.h"
#include "libstart/value/id-map.h"

/* podman's keep-id: who calls it, with root that is root. Of a user's pod its namespace says who she is in there. */
static bool find_kept(const UsernsRequest *request, const UserNamespace *userns, uid_t *ret_uid, gid_t *ret_gid) {
        *ret_uid = request->uid;
        *ret_gid = request->gid;
        if (request->mode == USERNS_KEEP_ID)
                return true;
        return request->mode == USERNS_PATH && user_view_is_entered() &&
               g_str_has_prefix(request->path, PATH_POD "/") &&
               g_str_has_prefix(strrchr(request->path, '/'), "/" NAME_POD_KEPT) &&
               id_map_inside(userns->uids, 0, ret_uid) && id_map_inside(userns->gids, 0, ret_gid);
}

/* What the image's /etc/group says, nobody has asked for: Podman leaves these out, too. */
static void leave_out_unmapped(const UserNamespace *userns, GArray *gids) {
        for (guint i = gids->len; i-- > 0;) {
                gid_t gid = g_array_index(gids, gid_t, i);

                if (user_namespace_has_group(userns, gid))
                        continue;
                log_warning("The payload goes without the group %u of its /etc/group: it is none of its user "
                            "namespace's (UserNS=auto:size= makes more)",
                            gid);
                g_array_remove_index(gids, i);
        }
}

/* What a bind mount will bring to `path`, itself or in a directory for all of /etc; NULL where none does. Transfer
 * full. */
static char *find_mounted(const GPtrArray *mounts, const char *path) {
        const char *etc = NULL;

        for (guint i = 0; i < mounts->len; i++) {
                const MountRequest *mount = mounts->pdata[i];

                if (mount->type != MOUNT_BIND)
                        continue;
                if (g_str_equal(mount->destination, path))
                        return g_strdup(mount->source);
                if (g_str_equal(mount->destination, "/etc"))
                        etc = mount->source;
        }
        return etc ? g_build_filename(etc, strrchr(path, '/'), NULL) : NULL;
}

static bool asks_for_root(const char *user) {
        size_t length = user ? strcspn(user, ":") : 0;

        return !user || strspn(user, "0") == length || (length == 4 && g_str_has_prefix(user, "root"));
}

/* Who may write to a mounted file, the payload perhaps, does not make it root by that. */
static bool check_mounted(const char *user, const char *passwd, uid_t uid, GError **error) {
        return !passwd || uid != 0 || asks_for_root(user) ||
               error_set(
                       error, KT_ERROR_USAGE,
                       "The /etc/passwd that is mounted says that the user '%s' is root: write User=root if that is "
                       "meant",
                       user);
}

/* The payload will see the mounted file, and Podman takes User= and Group= from it, too, if not GroupAdd=. *ret is
 * NULL where none is mounted, or none is there, which is an error when it is mounted. */
static bool read_mounted(const ContainerRequest *request, const char *path, char **ret, GError **error) {
        g_autofree char *source = find_mounted(request->mounts, path);
        g_autoptr(GError) problem = NULL;
        gsize length;

        if (!source || host_path_read(source, &request->host_access, ret, &length, &problem) ||
            g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND))
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool identity_read(int root_fd, const ContainerRequest *request, const ImageConfig *image,
                   const UserNamespace *userns, Identity *ret, GError **error) {
        const char *user = request->user ?: image->user;
        g_autofree char *kept = NULL, *passwd = NULL, *group = NULL;
        uid_t kept_uid;
        gid_t kept_gid;
        bool is_kept = find_kept(&request->userns, userns, &kept_uid, &kept_gid);

        if (is_kept && (!user || !*user))
                user = kept = g_strdup_printf("%u:%u", kept_uid, kept_gid);
        if (!root_file_read(root_fd, "etc/passwd", &ret->passwd, error) ||
            !root_file_read(root_fd, "etc/group", &ret->group, error) ||
            !read_mounted(request, "/etc/passwd", &passwd, error) ||
            !read_mounted(request, "/etc/group", &group, error) ||
            !user_resolve(user, passwd ?: ret->passwd, group ?: ret->group, &ret->user, error) ||
            !check_mounted(user, passwd, ret->user.uid, error))
                return false;
        leave_out_unmapped(userns, ret->user.additional_gids);
        if (!user_add_groups(&ret->user, request->groups, ret->group, error))
                return false;
        if (is_kept) /* the payload's anyway */
                user_identity_add_group(&ret->user, kept_gid);
        ret->outside.uid = user_namespace_uid(userns, ret->user.uid);
        ret->outside.gid = user_namespace_gid(userns, ret->user.gid);
        return user_namespace_check(userns, ret->user.uid, ret->user.gid, ret->user.additional_gids, error);
}

void identity_clear(Identity *identity) {
        user_identity_clear(&identity->user);
        g_clear_pointer(&identity->passwd, g_free);
        g_clear_pointer(&identity->group, g_free);
}
