/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/netavark-json.h"
#include "libstart/value/ip-address.h"

/* Who has which address. Whoever asks holds the lock (network-lock.h).
 *
 * An address is held by a namespace that is there, as its setup says, or by a container of Podman's. A namespace that
 * is gone is remembered, in a file of its name in /var/lib/keyturn/leases, or on /run where that cannot be written:
 * it gets the same address again, and others get it only when there is no other left. */
typedef struct LeaseTable LeaseTable;

/* unit: the namespace that addresses are for, whose own are not "of others". NULL where one of the files cannot be
 * read, or a newer keyturn has written it (state-format.h). */
LeaseTable *lease_table_read(const char *unit, GError **error);
void lease_table_free(LeaseTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LeaseTable, lease_table_free)

/* Has a container of Podman's an address of that network? */
bool lease_table_has_podmans(const char *network);

/* Looks whether a namespace that is there has a port of this mapping already. A unit's name, or NULL. Borrowed. */
const char *lease_table_find_port(const LeaseTable *table, const PortMapping *port);

/* Chooses what is wanted and not said: fills attachment->addresses with one for each subnet. Fails where an address
 * that is asked for is somebody's, or not of the network, and where there is none left. */
bool lease_table_choose(LeaseTable *table, Attachment *attachment, GError **error);

/* Remembers what was chosen. Nothing is written where it was the same before. */
bool lease_table_remember(const LeaseTable *table, const GPtrArray *attachments, GError **error);
