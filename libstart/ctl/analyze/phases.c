/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/ctl/analyze/phases.h"

/* An hour, so that sums and the widths of bars fit. */
#define USEC_MAX ((guint64) G_TIME_SPAN_HOUR)

static void clear_phase(void *data) {
        g_free(((Phase *) data)->name);
}

GArray *phases_parse(const char *text) {
        g_autoptr(GArray) phases = g_array_new(FALSE, FALSE, sizeof(Phase));
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        g_array_set_clear_func(phases, clear_phase);
        for (char **line = lines; *line; line++) {
                char *blank = strchr(*line, ' ');
                Phase phase = { 0 };

                if (**line == '\0')
                        continue;
                if (!blank || blank == *line ||
                    !g_ascii_string_to_unsigned(blank + 1, 10, 0, USEC_MAX, &phase.usec, NULL))
                        return NULL;
                *blank = '\0';
                if (g_str_equal(*line, "total"))
                        continue;
                phase.name = g_strdup(*line);
                g_array_append_val(phases, phase);
        }
        return phases->len > 0 ? g_steal_pointer(&phases) : NULL;
}

guint64 phases_sum(const GArray *phases) {
        guint64 sum = 0;

        for (guint i = 0; i < phases->len; i++)
                sum += g_array_index(phases, Phase, i).usec;
        return sum;
}

char *phases_format(const char *title, const GArray *phases, guint width) {
        GString *text = g_string_new(NULL);
        guint64 sum = phases_sum(phases), before = 0;

        g_string_append_printf(text, "%s: %" G_GUINT64_FORMAT " us\n", title, sum);
        for (guint i = 0; i < phases->len; i++) {
                const Phase *phase = &g_array_index(phases, Phase, i);
                guint left = (guint) (before * width / MAX(sum, 1));
                guint right = (guint) ((before + phase->usec) * width / MAX(sum, 1));
                g_autofree char *bar = g_strnfill(right - left, '#');

                g_string_append_printf(text, "  %-12s %8" G_GUINT64_FORMAT "  %*s%s\n", phase->name, phase->usec,
                                       (int) left, "", bar);
                before += phase->usec;
        }
        return g_string_free(text, FALSE);
}

enum { SVG_LEFT = 220, SVG_WIDTH = 760, SVG_ROW = 34 };

void phases_append_svg(GString *svg, const GArray *phases, double x, double scale, guint y, guint height) {
        static const char *const colours[] = { "#4e79a7", "#f28e2b", "#59a14f", "#b6992d", "#76b7b2", "#af7aa1" };
        guint64 before = 0;

        for (guint i = 0; i < phases->len; i++) {
                const Phase *phase = &g_array_index(phases, Phase, i);
                double begin = x + (double) before * scale, width = (double) phase->usec * scale;

                g_string_append_printf(svg,
                                       "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%u\" fill=\"%s\"><title>%s "
                                       "%" G_GUINT64_FORMAT " us</title></rect>\n",
                                       begin, y, width, height, colours[i % G_N_ELEMENTS(colours)], phase->name,
                                       phase->usec);
                if (width > 52)
                        g_string_append_printf(svg, "<text x=\"%.1f\" y=\"%u\" fill=\"#fff\">%s</text>\n", begin + 3,
                                               y + 16, phase->name);
                before += phase->usec;
        }
}

static void append_svg_row(GString *svg, const PlotRow *row, guint64 longest, guint y) {
        g_autofree char *escaped = g_markup_escape_text(row->title, -1);

        g_string_append_printf(svg, "<text x=\"4\" y=\"%u\">%s</text>\n", y + 16, escaped);
        phases_append_svg(svg, row->phases, SVG_LEFT, (double) SVG_WIDTH / (double) longest, y, 22);
}

char *phases_format_svg(const PlotRow *rows, guint n) {
        GString *svg = g_string_new(NULL);
        guint64 longest = 1;

        for (guint i = 0; i < n; i++)
                longest = MAX(longest, phases_sum(rows[i].phases));
        g_string_append_printf(svg,
                               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
                               "font-family=\"sans-serif\" font-size=\"12\" fill=\"#777\">\n",
                               SVG_LEFT + SVG_WIDTH + 10, n * SVG_ROW + 40);
        for (guint i = 0; i < n; i++)
                append_svg_row(svg, &rows[i], longest, 10 + i * SVG_ROW);
        g_string_append_printf(svg,
                               "<text x=\"%d\" y=\"%u\">0</text><text x=\"%d\" y=\"%u\" text-anchor=\"end\">"
                               "%" G_GUINT64_FORMAT " us</text>\n</svg>\n",
                               SVG_LEFT, n * SVG_ROW + 28, SVG_LEFT + SVG_WIDTH, n * SVG_ROW + 28, longest);
        return g_string_free(svg, FALSE);
}
