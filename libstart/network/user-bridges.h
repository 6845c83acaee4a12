/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/base/paths.h"

/* The network namespace that has all bridges of one user: her containers' own have ends in it, and pasta(1) is its
 * way out. keyturn-network@.bridges.service makes it, as others do one for pasta alone. */

/* What netavark(1) notes of them; the machine's is root's. */
#define USER_BRIDGES_NAME ".netavark"
#define USER_BRIDGES_STATE PATH_RUN "/" USER_BRIDGES_NAME

/* -1 without an error: there is none, or it was of a view before this one. */
int user_bridges_open(void);

/* Forgets what netavark has noted, and ends the server of names that it has started. */
bool user_bridges_forget(GError **error);

/* The address by which containers reach the machine ("gateway") or its servers of names ("forwarder"), as pasta has
 * it. Transfer full; NULL: none. */
char *user_bridges_find_address(const char *key);
