/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* One at a time brings an image of a name: whoever has the lock. With it comes what is known of the name, which
 * survives a power cut:
 *
 *   rejected  the digest of an image that was brought, did not work, and was rolled back: it is not brought again by
 *             itself
 *   previous  the id of the image that had the name before one that is yet to be proved: the way back
 *   bad       the id of one that did not work, from before the way back is gone until its end
 *   since     with `bad`: when `previous` was written, which is else when the file was
 *   keep      the image that is to be proved is somebody else's, and stays where it does not work
 *   known     without `bad`: what is rejected was so before `previous` was written */

/* What is kept of a name in one of the directories of keyturn-image's. Transfer full. */
char *image_path(const char *directory, const char *name);

/* Waits. Returns a descriptor, or -1 with an error, also where a newer keyturn has written the notes
 * (state-format.h); closing it gives the lock back. */
int image_lock(const char *name, GError **error);

typedef struct ImageNotes {
        char *rejected, *previous, *bad; /* NULL: none */
        gint64 since;                    /* microseconds since 1970; 0: not known */
        bool keep, known;
} ImageNotes;

void image_notes_clear(ImageNotes *notes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ImageNotes, image_notes_clear)

/* Nothing, where nothing is written or cannot be understood. */
bool image_notes_read(int lock, ImageNotes *ret, GError **error);

/* A kill or a power cut finds the old notes or the new ones. */
bool image_notes_write(int lock, const ImageNotes *notes, GError **error);

/* Is there a previous image of that name, the way back of an update that is not over? Also where that cannot be read.
 * file: the last part of image_path(). */
bool image_notes_lead_back(const char *file);
bool image_notes_any_lead_back(void);

/* Nobody will end an update of a name that no container has any more: forget its way back, and what is not proved.
 * What did not work stays rejected. paths: of the others, image_path() in PATH_IMAGES. */
void image_notes_forget_others(GHashTable *paths);
