/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "libstart/base/fd.h"
#include "libstart/network/bridge.h"

/* Its ports are a directory that nothing but a bridge has. Transfer full; NULL: it is none. */
static GDir *open_ports(const char *name) {
        g_autofree char *path = g_build_filename("/sys/class/net", name, "brif", NULL);

        return g_dir_open(path, 0, NULL);
}

static bool is_unused_bridge(const char *name) {
        g_autoptr(GDir) ports = open_ports(name);

        return ports && !g_dir_read_name(ports);
}

bool bridge_is_used(const char *name) {
        g_autoptr(GDir) ports = open_ports(name);

        return ports && g_dir_read_name(ports);
}

void bridge_remove_unused(const char *name) {
        _cleanup_close_ int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct ifreq request = { 0 };

        g_strlcpy(request.ifr_name, name, sizeof request.ifr_name);
        if (fd < 0 || !is_unused_bridge(name) || ioctl(fd, SIOCGIFFLAGS, &request) < 0)
                return;
        /* The kernel removes none that is up. */
        request.ifr_flags &= ~IFF_UP;
        (void) ioctl(fd, SIOCSIFFLAGS, &request);
        (void) ioctl(fd, SIOCBRDELBR, request.ifr_name);
}
