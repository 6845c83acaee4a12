/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/printable.h"
#include "libstart/ctl/profile/flame-stacks.h"
#include "libstart/ctl/profile/parts.h"

enum { WIDTH = 1200, TOP = 46, ROW = 17, LENGTH_MAX = 200 };

/* The part of the whole that is left out: nobody could see it, and there are thousands. */
#define NARROW (1.0 / 2000)

/* Frames are <svg> elements in the <svg>: the browser cuts their text off, and to zoom is to give them other places,
 * in percent. The matched part of the search counts no sample twice: a frame below a match is the match's. */
static const char script[] =
        "const all = [...document.querySelectorAll('svg.f')], found = document.getElementById('found');\n"
        "const at = f => [+f.dataset.x, +f.dataset.w, +f.dataset.d];\n"
        "function zoom(to) {\n"
        "  const [x, w, d] = at(to);\n"
        "  for (const f of all) {\n"
        "    const [fx, fw, fd] = at(f), above = fd < d;\n"
        "    const seen = above ? fx <= x + 1e-9 && fx + fw >= x + w - 1e-9 "
        ": fx >= x - 1e-9 && fx + fw <= x + w + 1e-9;\n"
        "    f.style.display = seen ? '' : 'none';\n"
        "    f.style.opacity = above ? 0.5 : 1;\n"
        "    f.setAttribute('x', (above ? 0 : (fx - x) / w * 100) + '%');\n"
        "    f.setAttribute('width', (above ? 100 : fw / w * 100) + '%');\n"
        "  }\n"
        "}\n"
        "function search() {\n"
        "  const word = prompt('Functions whose names match this (regular expression):', '');\n"
        "  let what = null, sum = 0, end = -1;\n"
        "  try { what = word ? new RegExp(word) : null; } catch (e) { alert(e.message); }\n"
        "  for (const f of all) {\n"
        "    const hit = what && what.test(f.querySelector('text').textContent), [x, w] = at(f);\n"
        "    f.querySelector('rect').style.fill = hit ? '#e6f' : '';\n"
        "    if (hit && x >= end - 1e-9) { sum += w; end = x + w; }\n"
        "  }\n"
        "  found.textContent = what ? 'matched: ' + (sum * 100).toFixed(1) + ' %' : '';\n"
        "}\n"
        "for (const f of all) f.addEventListener('click', () => zoom(f));\n"
        "document.getElementById('search').addEventListener('click', search);\n"
        "document.getElementById('reset').addEventListener('click', () => zoom(all[0]));\n";

typedef struct Picture {
        GString *svg;
        const FlameGraph *graphs;
        const char *colour; /* of the part that is drawn */
        guint64 total;
        guint rows;
        char changed[8]; /* a colour */
} Picture;

/* The part of the whole by which a frame is all red, or all blue. */
#define CHANGE_MAX 0.05

/* As XML, without what a browser would refuse or turn around, and not for ever. Transfer full. */
static char *show_name(const char *name) {
        g_autofree char *shown = printable(name);

        g_autofree char *cut = g_utf8_strlen(shown, -1) > LENGTH_MAX ? g_utf8_substring(shown, 0, LENGTH_MAX) : NULL;

        return g_markup_escape_text(cut ?: shown, -1);
}

/* old: the same frame of what it is compared with, or NULL. */
static void set_colour(Picture *picture, const FlameFrame *frame, const FlameFrame *old) {
        double msec = picture->graphs[1].msec, was = old ? (double) old->samples * picture->graphs[0].msec : 0;
        double change = ((double) frame->samples * msec - was) / ((double) picture->total * msec);
        unsigned pale = 240 - (unsigned) (180 * MIN(ABS(change) / CHANGE_MAX, 1));

        g_snprintf(picture->changed, sizeof picture->changed, change > 0 ? "#ff%02x%02x" : "#%02x%02xff", pale, pale);
        picture->colour = picture->changed;
}

static void append_frame(Picture *picture, const FlameFrame *frame, guint64 before, guint depth) {
        g_autofree char *name = show_name(frame->name);
        double x = (double) before / (double) picture->total;
        double width = (double) frame->samples / (double) picture->total;

        g_string_append_printf(
                picture->svg,
                "<svg class=\"f\" x=\"%.4f%%\" width=\"%.4f%%\" y=\"%u\" height=\"%d\" data-x=\"%.8f\" "
                "data-w=\"%.8f\" data-d=\"%u\"><title>%s%s: %.2f ms, %.2f %%</title><rect width=\"100%%\" "
                "height=\"%d\" fill=\"%s\"%s/><text x=\"3\" y=\"12\">%s</text></svg>\n",
                x * 100, width * 100, TOP + depth * ROW, ROW, x, width, depth, name,
                frame->is_kernel ? " (kernel)" : "", (double) frame->samples * picture->graphs[1].msec, width * 100,
                ROW - 1, picture->colour, frame->is_kernel ? " fill-opacity=\".5\"" : "", name);
        picture->rows = MAX(picture->rows, depth + 1);
}

static void append_below(Picture *picture, const FlameFrame *frame, const FlameFrame *old, guint64 before,
                         guint depth) {
        g_autoptr(GList) children = flame_children(frame);

        if (picture->graphs[0].root)
                set_colour(picture, frame, old);
        append_frame(picture, frame, before, depth);
        for (const GList *at = children; at; at = at->next) {
                const FlameFrame *child = at->data;

                if ((double) child->samples >= (double) picture->total * NARROW)
                        append_below(picture, child, flame_find(old, child->name), before, depth + 1);
                before += child->samples;
        }
}

static void append_parts(Picture *picture) {
        const FlameFrame *root = picture->graphs[1].root;
        guint64 before = 0;

        picture->colour = "#ddd";
        append_frame(picture, root, 0, 0);
        for (int i = 0; i < N_PARTS; i++) {
                const FlameFrame *part = flame_find(root, part_looks[i].name);

                if (!part)
                        continue;
                picture->colour = part_looks[i].colour;
                append_below(picture, part, flame_find(picture->graphs[0].root, part->name), before, 1);
                before += part->samples;
        }
}

char *flame_format_svg(const FlameGraph graphs[2], const char *title) {
        const FlameFrame *root = graphs[1].root;
        g_autoptr(GString) frames = g_string_new(NULL);
        Picture picture = { .svg = frames, .graphs = graphs, .total = MAX(root->samples, 1) };
        g_autofree char *shown = show_name(title), *text = flame_stacks_format(root, graphs[1].msec),
                        *stacks = g_markup_escape_text(text, -1);

        append_parts(&picture);
        return g_strdup_printf(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\" "
                "style=\"min-width: %dpx; background: #fff\" font-family=\"sans-serif\" font-size=\"11\">\n"
                "<style>svg.f, #search, #reset { cursor: pointer } svg.f:hover rect { stroke: #000 }"
                "</style>\n"
                "<text x=\"4\" y=\"16\" font-size=\"14\">%s</text>\n"
                "<text x=\"4\" y=\"36\" fill=\"#777\">below a function: what it calls; pale: in the "
                "kernel; a click zooms</text>\n"
                "<text id=\"search\" x=\"420\" y=\"36\">[search]</text>\n"
                "<text id=\"reset\" x=\"480\" y=\"36\">[all]</text>\n"
                "<text id=\"found\" x=\"520\" y=\"36\"></text>\n"
                "%s<script><![CDATA[\n%s]]></script>\n" FLAME_STACKS_BEGIN "%s" FLAME_STACKS_END "\n</svg>\n",
                TOP + picture.rows * ROW + 4, WIDTH, shown, frames->str, script, stacks);
}
