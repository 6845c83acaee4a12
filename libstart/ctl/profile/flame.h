/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Stacks, added up: a tree in which each function is below the one that has called it. Pure. */
typedef struct FlameFrame {
        char *name;
        bool is_kernel;
        guint64 samples, self; /* with all below it, and without */
        GPtrArray *children;   /* of FlameFrame; NULL: none */
        GHashTable *by_name;   /* the same, borrowed */
} FlameFrame;

/* name: copied. */
FlameFrame *flame_new(const char *name);
void flame_free(FlameFrame *frame);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FlameFrame, flame_free)

/* The one of that name below `frame`, made where it is missing. Borrowed. */
FlameFrame *flame_below(FlameFrame *frame, const char *name, bool is_kernel);

/* What is on the processor most of all, not counting what it calls, wherever that is called from. */
typedef struct FlameTip {
        const char *name;
        bool is_kernel;
        guint64 samples;
} FlameTip;

/* The functions in `frame`, by their own samples, those with most first. Array of FlameTip, whose names are borrowed
 * from `frame`. */
GArray *flame_find_tips(const FlameFrame *frame);

/* What a picture is compared with. */
typedef struct FlameBefore {
        const FlameFrame *root;
        double msec; /* of one of its samples */
} FlameBefore;

/* A picture with a script in it, for a browser without a network: a click zooms, and one can search. Names can be
 * anything. What is narrower than a two-thousandth is left out. title: above it.
 * colours: for the frames below the root, in the order of their names in `parts`, both NULL-terminated.
 * msec: of one sample. before: NULL, or what it is compared with: then what takes longer is red, what takes less time
 * is blue, and all else pale. Transfer full. */
char *flame_format_svg(const FlameFrame *root, const char *title, const char *const *parts,
                       const char *const *colours, double msec, const FlameBefore *before);
