/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What keyturn has written to a container's root for its start (/etc/hosts and the like), so that `keyturnctl diff` can tell it
 * from what the payload has. Times do not tell: a payload can write in the same tick of the clock, or through a mapping.
 * Neither does a place in the container. So digests are kept as an attribute of the directory in /run/keyturn, which only root
 * can see, and which takes no page. They are made and written when the payload runs already: a start waits for neither. */

/* Of MadeFile. */
GPtrArray *made_files_new(void);

/* What was written. The content is copied. path: "/etc/hosts", or a directory, without content. An image may say it: one with a
 * line break counts as the payload's. */
void made_files_add(GPtrArray *made, const char *path, const char *content, gsize length);

/* Where that fails, all of them count as changed later. */
void made_files_remember(const GPtrArray *made, const char *directory);

/* The digests of the start, for made_files_contain(). Transfer full; NULL where there are none. */
char *made_files_recall(const char *directory);

/* Is something in that directory, or the directory itself, of the start? */
bool made_files_lead_to(const char *digests, const char *directory);

/* Is that what was written? */
bool made_files_contain(const char *digests, const char *path, const char *content, gsize length);
