/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* A connection to where systemd hears of its services; `address` is $NOTIFY_SOCKET. Returns a descriptor or -1. */
int notify_socket_connect(const char *address, GError **error);
