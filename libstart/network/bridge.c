/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "libstart/base/fd.h"
#include "libstart/network/bridge.h"

/* Its ports are a directory that nothing but a bridge has. */
static bool is_bridge(const char *name, bool with_ports) {
        g_autofree char *path = g_build_filename("/sys/class/net", name, "brif", NULL);
        g_autoptr(GDir) ports = g_dir_open(path, 0, NULL);

        return ports && (g_dir_read_name(ports) != NULL) == with_ports;
}

bool bridge_is_used(const char *name) {
        return is_bridge(name, true);
}

void bridge_remove_unused(const char *name) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { 0 };

        g_strlcpy(request.ifr_name, name, sizeof request.ifr_name);
        if (fd < 0 || !is_bridge(name, false) || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
                return;
        /* The kernel removes none that is up. */
        request.ifr_flags &= ~IFF_UP;
        (void) ioctl(fd, SIOCSIFFLAGS, &request);
        (void) ioctl(fd, SIOCBRDELBR, request.ifr_name);
}
