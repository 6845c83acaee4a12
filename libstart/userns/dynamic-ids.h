/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/userns/id-assignment.h"

/* DynamicUser= of [Service]: 65,536 ids that nobody has, from the start to the stop. They are noted in one place
 * alone: in the directory on /run of the container, or of the namespace that was pinned for it, and go with that. */

/* Nobody's by convention: above the containers of systemd-nspawn (up to 0x6FFFFFFF) and what SSSD and FreeIPA make of
 * foreign domains (up to 2000200000), below systemd's range of foreign ids (from 0x7FFE0000 on) and the ids that do
 * not fit into 31 bits. systemd's own dynamic users are 61184 to 65519. */
#define DYNAMIC_IDS_FIRST 0x77400000U
#define DYNAMIC_IDS_END 0x7FFE0000U
#define DYNAMIC_IDS_COUNT 65536U

/* Others than the last time. A container whose namespace is pinned has that one's ids, if there are any noted.
 * Neither users, groups nor subordinate ids of this machine's are among them, nor what another container has. The
 * finished maps, transfer full. */
bool dynamic_ids_find(const IdAssignment *wanted, GArray **ret_uids, GArray **ret_gids, GError **error);

/* The first of the ids, beginning at the place that `random` names; used: an array of IdRange. False: all are used.
 * Pure. */
bool dynamic_ids_choose(const GArray *used, guint32 random, guint32 *ret_first);

/* Adds the ids that the lines of passwd(5) or group(5) are about. Pure. */
void dynamic_ids_add_accounts(const char *text, GArray *used);
