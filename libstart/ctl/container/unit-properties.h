/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

/* What systemd says of a unit. `path`: the unit's object, from unit_load(). */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_flush_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sd_bus_error, sd_bus_error_free)

/* A connection to systemd, or NULL. */
sd_bus *bus_open(GError **error);

#define BUS_SYSTEMD "org.freedesktop.systemd1"
#define BUS_OBJECT "/org/freedesktop/systemd1"
#define BUS_MANAGER "org.freedesktop.systemd1.Manager"
#define BUS_SERVICE "org.freedesktop.systemd1.Service"
#define BUS_UNIT "org.freedesktop.systemd1.Unit"

/* False, with "Cannot WHAT: why". r: what sd-bus has returned. */
bool bus_fail(int r, const sd_bus_error *bus_error, const char *what, GError **error);

/* Transfer full; NULL with an error. */
char *unit_load(sd_bus *bus, const char *unit, GError **error);

/* A property; "", 0 or an empty list where there is none. type: as sd-bus writes it. Transfer full. */
char *unit_string(sd_bus *bus, const char *path, const char *interface, const char *name);
char **unit_strings(sd_bus *bus, const char *path, const char *interface, const char *name);
guint64 unit_number(sd_bus *bus, const char *path, const char *interface, const char *name, char type);

/* The same, where it matters that systemd did not say it. */
bool unit_string_read(sd_bus *bus, const char *path, const char *interface, const char *name, char **ret,
                      GError **error);
bool unit_number_read(sd_bus *bus, const char *path, const char *interface, const char *name, char type, guint64 *ret,
                      GError **error);

/* Of a service whose ActiveState= is `active`, in more words: "active (running)", "failed (exit status 125)".
 * Transfer full. */
char *service_state_describe(sd_bus *bus, const char *path, const char *active);
