/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The journal's own protocol, an entry for each line. A user's relay may not write in the name of another process, as
 * the system's does; so it says whose line it is. `journalctl --user -u NAME` looks for that, too. */

/* The fields that all entries of a stream have, each ending with a newline; room for a unit's name and a tag. */
#define JOURNAL_FIELDS_MAX 1024

void journal_entry_fields(const char *unit, const char *tag, char ret[JOURNAL_FIELDS_MAX]);

/* Whole lines: each becomes an entry; one that is empty does not. "<6>" in front of a line is its
 * level. Waits for a journal that is busy, for two seconds at most. Lines that are too long for a message are lost.
 * Returns how much is sent, or a negative errno where it has taken nothing. */
ssize_t journal_entries_send(const char *fields, const char *data, size_t size);
