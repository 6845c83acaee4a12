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
 *   pasta    in place of setup: the id, and the words of the pasta that is run in it, a line each. Names are written
 *            when that is there
 *
 * Two more say what is being done just now, so that it is known after a kill: */
#define STATE_SETUP "setup"
#define STATE_SYSCTLS "sysctls"
#define STATE_NETNS "netns"
#define STATE_NAMES "names"
#define STATE_PASTA "pasta"
#define STATE_GOING "going"         /* it is to be removed */
#define STATE_RELOADING "reloading" /* interface and rules are made anew */

/* In place of a unit's name: what all bridges of a user lie in. No container's service is called so. */
#define USER_BRIDGES ".bridges"

/* A unit's name without its suffix: it becomes a path's part. KT_ERROR_USAGE. */
bool namespace_name_check(const char *unit, GError **error);

/* "/run/keyturn/network/UNIT/FILE". Transfer full. */
char *namespace_state_path(const char *unit, const char *file);

/* From here on all of it is looked for where it lies for who has not entered the user's view, because there is none.
 */
void namespace_state_go_outside(void);

/* PATH_RUN, or what that is outside. Transfer none. */
const char *namespace_state_run(void);

/* Units that have a directory, but for USER_BRIDGES. NULL with an error where that cannot be told: what would be
 * missed has addresses, and rules. Transfer full. */
char **namespace_state_list(GError **error);

/* The text of a file; *ret is NULL where there is none. Transfer full. */
bool namespace_state_read(const char *unit, const char *file, char **ret, GError **error);

/* Where it cannot be told, it neither has nor lacks it. */
bool namespace_state_has(const char *unit, const char *file);
bool namespace_state_lacks(const char *unit, const char *file);

/* Made, and nobody is at removing it or at making it anew. */
bool namespace_state_is_whole(const char *unit);

/* Was it made, and is no namespace mounted any more? Of a user's whose view has begun anew, as who held it was
 * killed. Names come last: without, one may be about to be made. */
bool namespace_state_is_lost(const char *unit);

/* What its setup says; *ret is NULL where there is none. Transfer full. */
bool namespace_state_read_summary(const char *unit, SetupSummary **ret, GError **error);

/* The directory; it may be there. */
bool namespace_state_make(const char *unit, GError **error);
bool namespace_state_write(const char *unit, const char *file, const char *text, GError **error);

/* All of it, the pin first. What is not there is no error. */
bool namespace_state_remove(const char *unit, GError **error);
