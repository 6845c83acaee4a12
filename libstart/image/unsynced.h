/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The tools that bring images see to it that their lists are on the disk, and not that the files of the layers are:
 * after a power cut an image has its name, and files of it are empty. So each name of which an image is brought has a
 * mark, on the disk before the first layer, until all of it is there. */

typedef struct Unsynced {
        char *name;
        int store;    /* -1: there is none yet */
        bool is_new;  /* the name had no mark */
        bool was_cut; /* layers of it that are there may be torn */
} Unsynced;

#define UNSYNCED_NULL { .store = -1 }

void unsynced_clear(Unsynced *coming);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Unsynced, unsynced_clear)

/* From now on, until unsynced_end(), the name is on its way. `ret` is UNSYNCED_NULL. */
bool unsynced_begin(const char *name, Unsynced *ret, GError **error);

/* Write the store to its disk. Fails where that has not taken all.
 *
 * has_come: else what came of it is gone. whole: it has no layer of before a power cut. The mark goes then. Else,
 * and after a failure, the name counts as cut until it comes whole. */
bool unsynced_end(Unsynced *coming, bool has_come, bool whole, GError **error);

/* Has the name a mark of a boot before, or has its disk not taken all of it, and it has not come whole since? */
bool unsynced_was_cut(const char *name);

/* What tools have renamed is on the disk after that, before what is written of it on another one. */
bool unsynced_write_store(GError **error);

/* An image that may be torn was taken back, or one has come whole by who was killed then: write that to the disk, and
 * forget the mark. Fails as unsynced_end() does. */
bool unsynced_forget(const char *name, GError **error);

/* The image is there. Where nobody brings it at the moment, and who brought it was killed in this boot, do the end of
 * that. */
void unsynced_settle(const char *name);

/* Say that an image may be damaged, and what is to be done: once, as no image is named. */
void unsynced_tell(void);

/* Say once that there are marks of boots before, and put them aside; not that of an update that is to be ended, which
 * takes its image back by it. Nothing else is done by itself: what is damaged may be all that there is. */
void unsynced_warn(void);
