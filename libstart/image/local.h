/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What is in the store. It is read by ourselves, and written by skopeo. */

/* The id of the image that has this name; NULL where there is none, or with an error where that cannot be told.
 * Transfer full. */
char *local_find(const char *name, GError **error);

/* What has the whole name in the list of the store to write to, also where it cannot be read. Transfer full. */
char *local_find_listed(const char *name);

/* Has an image of the store to write to this name, and cannot be read, so that no container starts from it? False
 * also where keyturn alone does not start from it, as another tool may. */
bool local_is_of_no_use(const char *name);

/* Remove what tagging that name has left that was killed. */
void local_forget(const char *name);

/* Is what the registry has under `name`, by its digest, the image with that id? */
bool local_has_digest(const char *name, const char *digest, const char *id);

/* Give an image that is there a name, which another loses. An image of a store that is only read has its name still:
 * `other`, if it is not NULL, is removed then, which hides it. */
bool local_tag(const char *id, const char *name, const char *other, GError **error);

/* What is in the store, to tell later what has come: see local_take_back(). NULL: nothing. Transfer full. */
char *local_list(void);

/* Give `name` back to the image that had it, or to none (NULL), and remove the image that has it now. It is removed
 * only if it had no name when `list` was made (a power cut may have kept it from one), and has no other now. Returns
 * whether it has; the name may be given back even if not. */
bool local_take_back(const char *name, const char *before, const char *list);

/* Remove an image that has no name (any more), for a moment as often as it takes. One with a name stays, which is no
 * error. */
bool local_remove(const char *id, GError **error);
