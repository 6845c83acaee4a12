/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/root/identity.h"
#include "libstart/base/log.h"
#include "libstart/mount/root-file.h"

/* podman's keep-id: who calls it, with root that is root; its group is the payload's anyway. */
static const char *find_user(const ContainerRequest *request, const ImageConfig *image, char **ret_owned) {
        const UsernsRequest *userns = &request->userns;
        const char *user = request->user ?: image->user;

        if ((user && *user) || userns->mode != USERNS_KEEP_ID)
                return user;
        return *ret_owned = g_strdup_printf("%u:%u", userns->uid, userns->gid);
}

static void add_kept_group(const UsernsRequest *userns, UserIdentity *identity) {
        gid_t gid = userns->gid;

        for (guint i = 0; i < identity->additional_gids->len; i++)
                if (g_array_index(identity->additional_gids, gid_t, i) == gid)
                        return;
        if (userns->mode == USERNS_KEEP_ID)
                g_array_append_val(identity->additional_gids, gid);
}

/* What the image's /etc/group says, nobody has asked for: Podman leaves these out, too. */
static void leave_out_unmapped(const UserNamespace *userns, GArray *gids) {
        for (guint i = gids->len; i-- > 0;) {
                gid_t gid = g_array_index(gids, gid_t, i);

                if (user_namespace_has_group(userns, gid))
                        continue;
                log_warning("The payload goes without the group %u of the image's /etc/group: it is none of its user "
                            "namespace's (UserNS=auto:size= makes more)",
                            gid);
                g_array_remove_index(gids, i);
        }
}

bool identity_read(int root_fd, const ContainerRequest *request, const ImageConfig *image,
                   const UserNamespace *userns, Identity *ret, GError **error) {
        g_autofree char *kept = NULL;

        if (!root_file_read(root_fd, "etc/passwd", &ret->passwd, error) ||
            !root_file_read(root_fd, "etc/group", &ret->group, error) ||
            !user_resolve(find_user(request, image, &kept), ret->passwd, ret->group, &ret->user, error))
                return false;
        leave_out_unmapped(userns, ret->user.additional_gids);
        if (!user_add_groups(&ret->user, request->groups, ret->group, error))
                return false;
        add_kept_group(&request->userns, &ret->user);
        return true;
}

void identity_clear(Identity *identity) {
        user_identity_clear(&identity->user);
        g_clear_pointer(&identity->passwd, g_free);
        g_clear_pointer(&identity->group, g_free);
}
