/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Entries that an administrator can look for by MESSAGE_ID, in the journal's native protocol
 * (https://systemd.io/JOURNAL_NATIVE_PROTOCOL): libstart is static, and libsystemd is not. The identities
 * are explained in keyturn.catalog (`journalctl -x`), and stay what they are for ever. */

/* A container's seccomp filter was compiled while it was being started. */
#define MESSAGE_ID_SECCOMP_COMPILED "df612ccd2aff40da96b039c982543b00"

/* How long the phases of a start took, with a field for each (libstart --timing). */
#define MESSAGE_ID_TIMING "2f1f01f285c14551a29bd8eb772f993c"

/* Sends one entry. fields: further ones, "NAME=value" lines, or "". Fails, having said nothing, where no journal
 * listens. */
bool journal_message_send(const char *identifier, int priority, const char *message_id, const char *message,
                          const char *fields, GError **error);
