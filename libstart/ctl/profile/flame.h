/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define FLAME_DEPTH_MAX 256 /* functions below each other in a picture that can be read again */

/* Stacks, added up: a tree in which each function is below the one that has called it. Pure. */
typedef struct FlameFrame {
        char *name;
        bool is_kernel;
        guint64 samples, self; /* with all below it, and without */
        GHashTable *children;  /* name: FlameFrame; NULL: none */
} FlameFrame;

/* name: copied. */
FlameFrame *flame_new(const char *name);
void flame_free(FlameFrame *frame);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FlameFrame, flame_free)

/* Adds samples to the one of that name below `frame`, which is made where it is missing. Returns it; borrowed. */
FlameFrame *flame_add(FlameFrame *frame, const char *name, bool is_kernel, guint64 samples);

/* The same, where there is one; NULL: there is none, or no `frame`. Borrowed. */
const FlameFrame *flame_find(const FlameFrame *frame, const char *name);

/* All below it, by their names. Transfer container. */
GList *flame_children(const FlameFrame *frame);

/* What was recorded, and what it is compared with: two of these, the older one first, with no root where there is
 * none. */
typedef struct FlameGraph {
        FlameFrame *root;
        double msec; /* of one of its samples */
} FlameGraph;

/* What is on the processor, not counting what it calls, wherever in its part that is called from. */
typedef struct FlameTip {
        const char *part, *function; /* borrowed */
        guint64 samples[2];          /* of both graphs */
        double change;               /* in msec */
} FlameTip;

/* The functions of all parts but the idle one, those that have changed most first. Array of FlameTip. */
GArray *flame_find_tips(const FlameGraph graphs[2]);

/* A picture with a script in it, for a browser without a network: a click zooms, and one can search. Names can be
 * anything. What is narrower than a two-thousandth is left out. title: above it. Where there is an older graph, what
 * takes longer is red, what takes less time is blue, and all else pale. Transfer full. */
char *flame_format_svg(const FlameGraph graphs[2], const char *title);
