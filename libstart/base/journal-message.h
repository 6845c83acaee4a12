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

/* A container's health is another one than before; with KEYTURN_HEALTH=healthy or unhealthy. */
#define MESSAGE_ID_HEALTH_CHANGED "a36251ace9c24255a55086aeebe33fb3"

/* A health check has failed; KEYTURN_HEALTH_EXIT= is its exit status, -1 where it took too long. */
#define MESSAGE_ID_HEALTH_FAILED "ff774cb2bbf8475d9e479851a5feba81"

/* One has succeeded (HealthLogDestination=events_logger). */
#define MESSAGE_ID_HEALTH_SUCCEEDED "c7f08dd20c464187b529dea4b405c6e2"

/* Sends one entry. fields: further ones, "NAME=value" lines, or "". Fails, having said nothing, where no journal
 * listens. */
bool journal_message_send(const char *identifier, int priority, const char *message_id, const char *message,
                          const char *fields, GError **error);
