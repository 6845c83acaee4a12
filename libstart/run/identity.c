/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/run/identity.h"
#include "libstart/run/root-file.h"

bool identity_read(int root_fd, const ContainerRequest *request, const ImageConfig *image, Identity *ret,
                   GError **error) {
        return root_file_read(root_fd, "etc/passwd", &ret->passwd, error) &&
               root_file_read(root_fd, "etc/group", &ret->group, error) &&
               user_resolve(request->user ?: image->user, ret->passwd, ret->group, &ret->user, error) &&
               user_add_groups(&ret->user, request->groups, ret->group, error);
}

void identity_clear(Identity *identity) {
        user_identity_clear(&identity->user);
        g_clear_pointer(&identity->passwd, g_free);
        g_clear_pointer(&identity->group, g_free);
}
