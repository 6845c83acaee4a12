/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The tools that bring images see to it that their lists are on the disk, and not that the files of the layers are:
 * after a power cut an image has its name, and files of it are empty. So each name of which an image is brought has a
 * mark, on the disk before the first layer, until all of it is there. */

/* *ret_is_new: it had none. */
bool unsynced_mark(const char *name, bool *ret_is_new, GError **error);

/* Write the store to its disk. With `whole` the mark goes then: that was all of it, or it is gone. Fails, and the
 * mark stays, where the disk has not taken something: a second call would not be told of it again. */
bool unsynced_end(const char *name, bool whole, GError **error);

/* Has the name a mark of a boot before, and has not come whole since? */
bool unsynced_was_cut(const char *name);

/* It has come whole. */
void unsynced_forget_cut(const char *name);

/* Say that an image may be damaged, and what is to be done. */
void unsynced_tell(void);

/* Say once that there are marks of boots before, and put them aside; not while an update is to be ended, which takes
 * its image back by its mark. Nothing else is done by itself: what is damaged may be all that there is. */
void unsynced_warn(void);
