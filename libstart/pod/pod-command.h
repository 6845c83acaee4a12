/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* `libstart pod`: what the services of pods run, see libstart(8). `words` follow the verb.
 *
 *   up [--share LIST] [--pin FILE] [OPTION...] NAME
 *                   make the namespaces of the list (ipc, net, uts), and pin them as files below PATH_POD/NAME; with
 *                   ipc comes the pod's /dev/shm, with net a loopback and nothing else. The options are those of
 *                   `libstart run` that say what is in them: --hostname, --shm-size, --sysctl, --userns and its like
 *   down NAME       unpin what is left of them
 *
 * No process holds them. What a pod killed half-way has left is removed by either. */
bool pod_command(const char *const *words, GError **error);

/* Restarts the pod of a container if it has not the user namespace that the container is to enter: it was made in an
 * earlier view of the user's (user-view.h), or before its file was changed.
 * `userns`: the path of that namespace; NULL or one that is no pod's: nothing is done. */
bool pod_settle(const char *userns, GError **error);
