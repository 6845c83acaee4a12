/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What keyturn has written to a container's root for its start (/etc/hosts and the like), so that `keyturnctl diff`
 * can tell it from what the payload has. Times do not tell: a payload can write in the same tick of the clock, or
 * through a mapping. Neither does a place in the container. So it is kept as an attribute of the directory in
 * /run/keyturn, which only root can see, and which takes no page. It is written when the payload runs already: a
 * start does not wait for it. */

/* Of MadeFile. */
GPtrArray *made_files_new(void);

/* What was written. The content is copied. path: "/etc/hosts", or a directory, without content. */
void made_files_add(GPtrArray *made, const char *path, const char *content, gsize length);

/* Where that fails, or it is more than the 64 KiB that an attribute may have, all of them count as changed later. */
void made_files_remember(const GPtrArray *made, const char *directory);

/* What the start has remembered; empty where it has not. Transfer full. */
GPtrArray *made_files_recall(const char *directory);

/* Is something in that directory, or the directory itself, of the start? */
bool made_files_lead_to(const GPtrArray *made, const char *directory);

/* Is that what was written? */
bool made_files_contain(const GPtrArray *made, const char *path, const char *content, gsize length);
