/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/analyze/boot-plot.h"

enum { LEFT = 10, WIDTH = 900, RIGHT = 320, TOP = 34, ROW = 26, BAR = 18 };

typedef struct Axis {
        guint64 origin, length;
} Axis;

static double place(const Axis *axis, guint64 usec) {
        return LEFT + (double) (MAX(usec, axis->origin) - axis->origin) * WIDTH / (double) axis->length;
}

/* Of steps of 1, 2 or 5 times a power of ten the first that makes no more than ten. */
static guint64 find_step(guint64 length) {
        guint64 step = 1000;

        for (guint i = 0; length / step > 10; i++)
                step = i % 3 == 1 ? step / 2 * 5 : step * 2;
        return step;
}

static void append_line(GString *svg, double x, guint bottom, const char *colour) {
        g_string_append_printf(svg, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" stroke=\"%s\"/>\n", x, TOP - 8,
                               x, bottom, colour);
}

static void append_axis(GString *svg, const Axis *axis, guint64 finish, guint bottom) {
        guint64 step = find_step(axis->length);

        for (guint64 at = 0; at <= axis->length; at += step) {
                double x = place(axis, axis->origin + at);

                append_line(svg, x, bottom, "#ccc");
                g_string_append_printf(svg, "<text x=\"%.1f\" y=\"%d\">%.3f s</text>\n", x, TOP - 12,
                                       (double) at / G_USEC_PER_SEC);
        }
        if (finish > axis->origin) {
                append_line(svg, place(axis, finish), bottom, "#e15759");
                g_string_append_printf(svg,
                                       "<text x=\"%.1f\" y=\"%u\" fill=\"#e15759\">the boot is finished</text>\n",
                                       place(axis, finish) + 3, bottom + 14);
        }
}

static void append_row(GString *svg, const Axis *axis, const PlotRow *row, guint y) {
        g_autofree char *title = g_markup_escape_text(row->title, -1);
        double x = place(axis, row->begin), width = MAX(place(axis, row->end) - x, 1);
        double msec = (double) (row->end - row->begin) / 1000;
        guint64 sum = row->phases ? phases_sum(row->phases) : 0;

        g_string_append_printf(
                svg,
                "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#bab0ac\"><title>%s: %.1f "
                "ms</title></rect>\n",
                x, y, width, BAR, title, msec);
        if (row->phases && row->told >= sum)
                phases_append_svg(svg, row->phases, place(axis, row->told - sum),
                                  (double) WIDTH / (double) axis->length, y, BAR);
        g_string_append_printf(svg, "<text x=\"%.1f\" y=\"%u\">%s (%.1f ms)</text>\n", x + width + 5, y + BAR - 5,
                               title, msec);
}

char *boot_plot_format(const PlotRow *rows, guint n, guint64 origin, guint64 finish) {
        GString *svg = g_string_new(NULL);
        Axis axis = { .origin = origin, .length = 1000 };
        guint bottom = TOP + n * ROW;

        if (finish > origin)
                axis.length = MAX(axis.length, finish - origin);
        for (guint i = 0; i < n; i++)
                if (rows[i].end > origin)
                        axis.length = MAX(axis.length, rows[i].end - origin);
        g_string_append_printf(svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                               "font-family=\"sans-serif\" font-size=\"12\" fill=\"#777\">\n",
                               LEFT + WIDTH + RIGHT, bottom + 24);
        append_axis(svg, &axis, finish, bottom);
        for (guint i = 0; i < n; i++)
                append_row(svg, &axis, &rows[i], TOP + i * ROW);
        g_string_append(svg, "</svg>\n");
        return g_string_free(svg, FALSE);
}
