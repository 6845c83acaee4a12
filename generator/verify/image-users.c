/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/stat.h>
#include <sys/xattr.h>

#include "generator/verify/image-users.h"
#include "libstart/base/error.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"

/* Is what lower layers have at this directory hidden? */
static bool is_opaque(const char *directory) {
        char value;

        return lgetxattr(directory, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y';
}

/* The text of a file in /etc as the uppermost layer that has it says. False: it is there, and no plain file. */
static bool read_file(char *const *layers, const char *name, char **ret) {
        *ret = NULL;
        for (; *layers; layers++) {
                g_autofree char *etc = g_build_filename(*layers, "etc", NULL);
                g_autofree char *path = g_build_filename(etc, name, NULL);
                struct stat st;

                if (lstat(etc, &st) < 0)
                        continue;
                if (!S_ISDIR(st.st_mode)) /* removed, or a link */
                        return S_ISCHR(st.st_mode);
                if (lstat(path, &st) == 0)
                        return S_ISCHR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size < 1 << 20 &&
                                                       g_file_get_contents(path, ret, NULL, NULL));
                if (is_opaque(etc))
                        return true;
        }
        return true;
}

bool image_users_check(char *const *layers, const char *user, GError **error) {
        g_autofree char *passwd = NULL, *group = NULL;
        g_auto(UserIdentity) identity = { 0 };

        return !read_file(layers, "passwd", &passwd) || !read_file(layers, "group", &group) ||
               user_resolve(user, passwd, group, &identity, error);
}

char *image_users_default(const char *config) {
        g_autoptr(ImageConfig) image = image_config_parse(config, NULL);

        return image ? g_strdup(image->user) : NULL;
}
