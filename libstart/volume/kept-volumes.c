/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/mount-request.h"
#include "libstart/volume/kept-volumes.h"

#define NAME_LENGTH_MAX 255

/* `dash` becomes '-'. */
static void append_escaped(GString *name, const char *text, char dash) {
        for (; *text; text++)
                if (*text == dash)
                        g_string_append_c(name, '-');
                else if (g_ascii_isalnum(*text) || *text == '.')
                        g_string_append_c(name, *text);
                else
                        g_string_append_printf(name, "_%02x", (unsigned char) *text);
}

char *kept_volume_name(const char *container, const char *path) {
        g_autoptr(GString) name = g_string_new(NULL);

        append_escaped(name, container, '-');
        g_string_append(name, "_image-"); /* nothing is escaped as "_i": this is where the path begins */
        append_escaped(name, path + 1, '/');
        return g_string_free(g_steal_pointer(&name), FALSE);
}

static bool is_mounted(const GPtrArray *mounts, const char *path) {
        for (guint i = 0; i < mounts->len; i++)
                if (g_str_equal(((const MountRequest *) mounts->pdata[i])->destination, path))
                        return true;
        return false;
}

static bool add(GPtrArray *mounts, const char *container, const char *path, GError **error) {
        g_autoptr(MountRequest) mount = mount_request_new(MOUNT_VOLUME);
        g_autofree char *name = kept_volume_name(container, path);

        if (strlen(name) > NAME_LENGTH_MAX)
                return error_set(error, KT_ERROR_USAGE,
                                 "The image's VOLUME '%s' is too long to be the name of a volume: set Volume=NAME:%s",
                                 path, path);
        if (!mount_request_set_source(mount, name, error) || !mount_request_set_destination(mount, path, error) ||
            !mount_request_complete(mount, error))
                return false;
        g_ptr_array_add(mounts, g_steal_pointer(&mount));
        return true;
}

/* What is the kernel's is nobody's volume; the other ways to have an image's volumes leave it out, too. */
bool kept_volumes_add(GPtrArray *mounts, const char *container, char *const *paths, GError **error) {
        for (; paths && *paths; paths++)
                if (!g_str_equal(*paths, "/") && !path_value_is_of_kernel(*paths) && !is_mounted(mounts, *paths) &&
                    !add(mounts, container, *paths, error))
                        return false;
        return true;
}
