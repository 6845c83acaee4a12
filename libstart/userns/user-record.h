/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Users of other sources than /etc/passwd, as far as files have them: NAME.user, the JSON user records of
 * nss-systemd(8) (their format: systemd.io/USER_RECORD). No service is asked, and nothing of the network's. */

/* Appends what a record says as lines of passwd(5), and of group(5) for those groups of memberOf that are in *group.
 * Pure. Fails with KT_ERROR_FAILED for what is no record of a user with ids. */
bool user_record_append(const char *text, gsize length, char **passwd, char **group, GError **error);

/* The same of the first file there is of a user, who is a name or a number: in /etc/userdb, /run/userdb,
 * /run/host/userdb and /usr/lib/userdb of the tree below root ("": this machine's). True where there is none. */
bool user_record_add(const char *root, const char *name, char **passwd, char **group, GError **error);
