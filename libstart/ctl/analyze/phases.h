/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Where the time of a start went, as libstart left it: "NAME MICROSECONDS" lines (libstart/runtime/timing.h). Pure.
 */

typedef struct Phase {
        char *name;
        guint64 usec;
} Phase;

/* Array of Phase; the line "total" is not among them. NULL for what is not of this form. */
GArray *phases_parse(const char *text);

guint64 phases_sum(const GArray *phases);

/* A bar for each phase, `width` characters for all together. Transfer full. */
char *phases_format(const char *title, const GArray *phases, guint width);

/* A row of bars: from x on, `scale` for each microsecond. */
void phases_append_svg(GString *svg, const GArray *phases, double x, double scale, guint y, guint height);

/* One row of a picture for each: titles NULL-terminated, phases[i] of titles[i]. Transfer full. */
char *phases_format_svg(const char *const *titles, GArray *const *phases);
