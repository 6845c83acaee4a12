/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The starts of a boot in one picture. Pure. Times are microseconds since the kernel's start. */
typedef struct BootPlotRow {
        const char *title;
        guint64 begin, end;   /* systemd's start of the service */
        guint64 told;         /* when libstart had told systemd, at the end of the phases; 0: not known */
        const GArray *phases; /* phases.h; NULL: not known */
} BootPlotRow;

/* rows: in the order in which they are shown. origin: where the axis begins. finish: the end of the boot; 0: not yet.
 * Transfer full. */
char *boot_plot_format(const BootPlotRow *rows, guint n, guint64 origin, guint64 finish);
