/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/ctl/container/unit-properties.h"

/* systemd's own socket, for root: systemctl(1) talks to it, too. */
static sd_bus *open_private(void) {
        g_autoptr(sd_bus) bus = NULL;
        bool done = sd_bus_new(&bus) >= 0 && sd_bus_set_address(bus, "unix:path=/run/systemd/private") >= 0 &&
                    sd_bus_start(bus) >= 0;

        return done ? g_steal_pointer(&bus) : NULL;
}

/* A machine may have no message bus, and a reload can be before it (ReloadCmd=). */
sd_bus *bus_open(GError **error) {
        sd_bus *bus = geteuid() == 0 ? open_private() : NULL;
        int r = bus ? 0 : sd_bus_open_system(&bus);

        if (r < 0)
                error_set_errno(error, -r, "Cannot talk to systemd");
        return bus;
}

bool bus_fail(int r, const sd_bus_error *bus_error, const char *what, GError **error) {
        if (sd_bus_error_is_set(bus_error))
                return error_set(error, KT_ERROR_FAILED, "Cannot %s: %s", what, bus_error->message);
        return error_set_errno(error, -r, "Cannot %s", what);
}

bool unit_string_read(sd_bus *bus, const char *path, const char *interface, const char *name, char **ret,
                      GError **error) {
        int r = sd_bus_get_property_string(bus, BUS_SYSTEMD, path, interface, name, NULL, ret);

        return r >= 0 || error_set_errno(error, -r, "Cannot read a unit's %s=", name);
}

char *unit_string(sd_bus *bus, const char *path, const char *interface, const char *name) {
        char *value = NULL;

        return unit_string_read(bus, path, interface, name, &value, NULL) ? value : strdup("");
}

bool unit_number_read(sd_bus *bus, const char *path, const char *interface, const char *name, char type, guint64 *ret,
                      GError **error) {
        union {
                guint32 u;
                guint64 t;
        } value = { .t = 0 };
        int r = sd_bus_get_property_trivial(bus, BUS_SYSTEMD, path, interface, name, NULL, type, &value);

        *ret = type == 't' ? value.t : value.u;
        return r >= 0 || error_set_errno(error, -r, "Cannot read a unit's %s=", name);
}

guint64 unit_number(sd_bus *bus, const char *path, const char *interface, const char *name, char type) {
        guint64 number;

        return unit_number_read(bus, path, interface, name, type, &number, NULL) ? number : 0;
}

/* Of one that has failed, SubState= says "failed" once more. */
char *service_state_describe(sd_bus *bus, const char *path, const char *active) {
        bool failed = g_str_equal(active, "failed");
        g_autofree char *detail = unit_string(bus, path, failed ? BUS_SERVICE : BUS_UNIT,
                                              failed ? "Result" : "SubState");
        int status = (int) unit_number(bus, path, BUS_SERVICE, "ExecMainStatus", 'i');

        if (failed && status > 0 && g_str_equal(detail, "exit-code"))
                return g_strdup_printf("failed (exit status %d)", status);
        if (failed && sigabbrev_np(status) && (g_str_equal(detail, "signal") || g_str_equal(detail, "core-dump")))
                return g_strdup_printf("failed (signal SIG%s)", sigabbrev_np(status));
        return g_strdup_printf("%s (%s)", active, detail);
}

char **unit_strings(sd_bus *bus, const char *path, const char *interface, const char *name) {
        char **value = NULL;

        return sd_bus_get_property_strv(bus, BUS_SYSTEMD, path, interface, name, NULL, &value) < 0 || !value ?
                       g_new0(char *, 1) :
                       value;
}

char *unit_load(sd_bus *bus, const char *unit, GError **error) {
        g_auto(sd_bus_error) bus_error = SD_BUS_ERROR_NULL;
        g_autoptr(sd_bus_message) reply = NULL;
        const char *path = NULL;
        int r = sd_bus_call_method(bus, BUS_SYSTEMD, BUS_OBJECT, BUS_MANAGER, "LoadUnit", &bus_error, &reply, "s",
                                   unit);

        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &path);
        if (r < 0)
                bus_fail(r, &bus_error, "load a unit", error);
        return g_strdup(path);
}
