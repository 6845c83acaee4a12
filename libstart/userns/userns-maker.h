/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* In whose name a container's user namespace is made. The kernel has him own it: what is used in it counts as his
 * once more (instances and watches of inotify(7), namespaces, pending signals: a payload would use up what root's
 * services may have), and his processes outside have every capability in it, without one of their own.
 *
 * The container's root would not do: a set-user-ID file of its on a volume makes him of whoever executes it on the
 * host, and with UIDMap= he may be a user of the host. So it is an id that nobody is, of those that systemd's
 * UIDS-GIDS.md has as unused: below those that Podman and FreeIPA give to containers, above those that sssd gives to
 * users. */

#define USERNS_MAKER_FIRST 0x7FFC0000U
#define USERNS_MAKERS 0x10000U

/* Of the container of a service. Two may have one, and share his limits. Pure. */
uid_t userns_maker_find(const char *unit);

/* A user namespace that is made from here on is his. This process keeps its capabilities. 0: nothing is done. */
bool userns_maker_become(uid_t maker, GError **error);

/* Not in the new namespace, which does not know root yet. */
void userns_maker_leave(uid_t maker);
