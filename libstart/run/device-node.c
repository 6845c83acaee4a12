/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/option/device-request.h"
#include "libstart/run/device-node.h"

/* As systemd names the unit of a path: systemd.unit(5), STRING ESCAPING. Transfer full. */
static char *unit_of(const char *path) {
        GString *name = g_string_new(NULL);

        for (const char *c = path + 1; *c; c++)
                if (*c == '/')
                        g_string_append_c(name, '-');
                else if (g_ascii_isalnum(*c) || strchr(":_.", *c))
                        g_string_append_c(name, *c);
                else
                        g_string_append_printf(name, "\\x%02x", (unsigned char) *c);
        g_string_append(name, ".device");
        return g_string_free(name, FALSE);
}

static bool refuse_missing(const char *path, GError **error) {
        g_autofree char *unit = unit_of(path);

        return error_set(
                error, KT_ERROR_NOT_FOUND,
                "Device '%s' is not there. To wait for it: BindsTo=%s and After=%s in [Unit], see DEVICES in "
                "keyturn.container(5). To do without it: AddDevice=-%s",
                path, unit, unit, path);
}

/* Our cgroup, and so its device rules, are the payload's. access(2) asks them; to open a device would already do
 * something with some of them. */
static bool check_access(const char *path, const char *node, const char *wanted, GError **error) {
        int mode = (strchr(wanted, 'r') ? R_OK : 0) | (strchr(wanted, 'w') ? W_OK : 0);

        if (mode == 0 || access(node, mode) == 0)
                return true;
        if (errno != EPERM)
                return error_set_errno(error, errno, "Cannot use the device '%s'", path);
        return error_set(
                error, KT_ERROR_FAILED,
                "The service is not allowed to use the device '%s' (%s): another setting of the unit takes "
                "its DeviceAllow= back, see 'systemctl cat'; or the device came while the service was started, "
                "and starting it again helps",
                path, wanted);
}

bool device_node_find(const char *path, const char *access, char **ret_node, GError **error) {
        g_autofree char *node = realpath(path, NULL);
        struct stat st;

        if (!node || stat(node, &st) < 0)
                return errno == ENOENT ? refuse_missing(path, error) :
                                         error_set_errno(error, errno, "Cannot find the device '%s'", path);
        if (S_ISDIR(st.st_mode))
                return device_request_refuse_directory(path, error);
        if (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' is no device; files are mounted with Volume=", path);
        if (!check_access(path, node, access, error))
                return false;
        *ret_node = g_steal_pointer(&node);
        return true;
}
