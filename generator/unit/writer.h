/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "generator/unit/service.h"

/* Puts units and their links where systemd looks for them, or prints them. No fsync: systemd's directory is on a
 * tmpfs and made anew at every reload. */
typedef struct Writer Writer;

/* The first line of what is made of several files, or of none. */
#define WRITER_HEAD "# Made by keyturn-generator; do not edit.\n"

/* The directory, which is not copied, is not touched before there is something to write. NULL: print to stdout. */
Writer *writer_new(const char *directory);

/* The unit, and then its links. `origin` is the file that is named in problems. readers: who but root may read what
 * is written (files/tree.h). */
void writer_put_unit(Writer *writer, const char *origin, const Service *service, mode_t readers, const GString *text);

/* What keyturn's own programs read, be it during a reload: it appears under its name complete or not at all. The
 * directories in `name` are made. */
void writer_put_file(Writer *writer, const char *origin, const char *name, mode_t readers, const GString *text);

/* Has such a file been written? */
bool writer_has(const Writer *writer, const char *name);

/* From now on, keep the names of what is written. exclusive: units replace no other files. Of char*, transfer full.
 */
GPtrArray *writer_keep_names(Writer *writer, bool exclusive);

/* A link to /dev/null, if nothing of that name has been written since the names are kept: systemd then ignores what
 * has the name in directories that count less. */
void writer_mask(Writer *writer, const char *name);

/* Free the Writer. Transfer full: what went wrong, in order, of char*. */
GPtrArray *writer_finish(Writer *writer);
