/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A large environment in a file, as systemd takes some 10 us for each variable in ExecStart= at every start, and
 * more at every reload. keyturn-generator writes it beside the unit, libstart reads it (--env-list).
 *
 * The entries of --env, in their order, each with a NUL behind it. An empty one stands for the next --env of the
 * command line: entries with something in them for systemd to replace (% and $) stay there. */

/* Takes all other entries out of `env`. Transfer full. */
GString *env_list_take(GPtrArray *env);

/* All of them, each in its place: pointers into `data` and to the strings of `env`. Fails for a list that is cut off,
 * or is not of this command line. Pure. Transfer container. */
GPtrArray *env_list_merge(const char *data, gsize length, const GPtrArray *env, GError **error);
