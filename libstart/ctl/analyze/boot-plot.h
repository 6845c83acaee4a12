/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/analyze/phases.h"

/* The starts of a boot in one picture. Pure.
 *
 * rows: in the order in which they are shown. origin: where the axis begins. finish: the end of the boot; 0: not yet.
 * Transfer full. */
char *boot_plot_format(const PlotRow *rows, guint n, guint64 origin, guint64 finish);
