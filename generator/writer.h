/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/container.h"

/* Puts units and their links where systemd looks for them. Half of the generator's time is the kernel's,
 * making these files; so where there are many, a thread writes them while the next ones are converted, and
 * links are made when their unit is there. What is made does not depend on that. */
typedef struct Writer Writer;

/* Neither the directory nor a thread is touched before there is something to write. `directory` is not
 * copied. */
Writer *writer_new(const char *directory);

/* Takes ownership of text and links (of Link). `source` is the file that is named in problems; it must
 * outlive the Writer. readers: who but root may read what is written (tree.h). */
void writer_put_unit(Writer *writer, const SourceFile *source, const char *name, mode_t readers, GString *text,
                     GPtrArray *links);

/* The same for what is no unit and has no links. */
void writer_put_file(Writer *writer, const SourceFile *source, const char *name, mode_t readers, GString *text);

/* Wait until everything is written, and free the Writer. Transfer full: what went wrong, in order, of char*.
 * */
GPtrArray *writer_finish(Writer *writer);
