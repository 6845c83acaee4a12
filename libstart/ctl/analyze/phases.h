/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Where the time of a start went, as libstart left it: "NAME MICROSECONDS" lines (libstart/runtime/timing.h). Pure.
 */

typedef struct Phase {
        char *name;
        guint64 usec;
} Phase;

/* Array of Phase, at least one; the line "total" is not among them. NULL for what is not of this form. Transfer full.
 */
GArray *phases_parse(const char *text);

/* In microseconds. */
guint64 phases_sum(const GArray *phases);

/* A start in a picture. Times are microseconds since the kernel's start. */
typedef struct PlotRow {
        const char *title;
        GArray *phases;     /* NULL: not known */
        guint64 begin, end; /* systemd's start of the service */
        guint64 told;       /* when libstart had told systemd, at the end of the phases; 0: not known */
} PlotRow;

/* A bar for each phase, `width` characters for all together. Transfer full. */
char *phases_format(const char *title, const GArray *phases, guint width);

/* A row of bars: from x on, `scale` for each microsecond. x, y and height: the picture's units. */
void phases_append_svg(GString *svg, const GArray *phases, double x, double scale, guint y, guint height);

/* A row of bars for each; the phases of all are known, and their times do not count. Transfer full. */
char *phases_format_svg(const PlotRow *rows, guint n);
