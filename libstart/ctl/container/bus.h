/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <systemd/sd-bus.h>

/* A connection to systemd, or NULL. Close with sd_bus_flush_close_unref(). */
sd_bus *bus_open(GError **error);
