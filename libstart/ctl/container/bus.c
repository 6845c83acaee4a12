/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/ctl/container/bus.h"

/* systemd's own socket, for root: systemctl(1) talks to it, too. */
static int open_private(sd_bus **ret) {
        sd_bus *bus = NULL;
        int r = sd_bus_new(&bus);

        if (r >= 0)
                r = sd_bus_set_address(bus, "unix:path=/run/systemd/private");
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r >= 0)
                *ret = bus;
        else
                sd_bus_unref(bus);
        return r;
}

/* A machine may have no message bus, and a reload can be before it (ReloadCmd=). */
sd_bus *bus_open(GError **error) {
        sd_bus *bus = NULL;
        int r = geteuid() == 0 && open_private(&bus) >= 0 ? 0 : sd_bus_open_system(&bus);

        if (r < 0)
                error_set_errno(error, -r, "Cannot talk to systemd");
        return bus;
}
