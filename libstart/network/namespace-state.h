/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/netavark-json.h"

/* What is in /run/keyturn/network/UNIT: the files of a namespace, in the order in which they are made.
 *
 *   setup    what netavark is told, written before anything is done: whoever comes after a kill knows what there may
 *            be
 *   sysctls  what is set in it
 *   netns    the namespace itself, mounted
 *   names    what a start reads, written when all is done, and removed first
 *
 * And two that say what someone is at, so that a kill does not hide it: */
#define STATE_SETUP "setup"
#define STATE_SYSCTLS "sysctls"
#define STATE_NETNS "netns"
#define STATE_NAMES "names"
#define STATE_GOING "going"         /* it is to be removed */
#define STATE_RELOADING "reloading" /* interface and rules are made anew */

/* A unit's name without its suffix: it becomes a path's part. KT_ERROR_USAGE. */
bool namespace_name_check(const char *unit, GError **error);

/* "/run/keyturn/network/UNIT/FILE". Transfer full. */
char *namespace_state_path(const char *unit, const char *file);

/* Units that have a directory. Array of char*. */
GPtrArray *namespace_state_list(void);

/* The text of a file; NULL where there is none, or it cannot be read. Transfer full. */
char *namespace_state_read(const char *unit, const char *file, gsize *ret_length);

bool namespace_state_has(const char *unit, const char *file);

/* Made, and nobody is at removing it or at making it anew. */
bool namespace_state_is_whole(const char *unit);

/* What its setup says, or NULL. */
SetupSummary *namespace_state_read_summary(const char *unit);

/* The directory; it may be there. */
bool namespace_state_make(const char *unit, GError **error);
bool namespace_state_write(const char *unit, const char *file, const char *text, GError **error);

/* All of it, the pin first. What is not there is no error. */
bool namespace_state_remove(const char *unit, GError **error);
