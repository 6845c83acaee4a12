/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/ctl/profile/flame-stacks.h"

#define SAMPLES_MAX (G_MAXUINT64 / 1024) /* so that no sum of them overflows */

/* A line of each stack that was seen: its samples, and its functions with 'k' or 'u' in front, tabs between. */
static void format_below(GString *text, const FlameFrame *frame, GString *path) {
        g_autoptr(GList) children = flame_children(frame);
        gsize length = path->len;

        if (frame->self > 0)
                g_string_append_printf(text, "%" G_GUINT64_FORMAT "%s\n", frame->self, path->str);
        for (const GList *at = children; at; at = at->next) {
                const FlameFrame *child = at->data;
                g_autofree char *name = printable(child->name);

                g_string_append_printf(path, "\t%c%s", child->is_kernel ? 'k' : 'u', name);
                format_below(text, child, path);
                g_string_truncate(path, length);
        }
}

char *flame_stacks_format(const FlameFrame *root, double msec) {
        g_autoptr(GString) text = g_string_new(NULL), path = g_string_new(NULL);
        char number[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(text, "%s\n", g_ascii_dtostr(number, sizeof number, msec));
        format_below(text, root, path);
        return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Samples above, and so of the root, are added up as they are read. */
static bool read_stack(FlameFrame *root, const char *line) {
        g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
        FlameFrame *frame = root;
        guint64 samples;

        if (!g_ascii_string_to_unsigned(fields[0], 10, 1, SAMPLES_MAX, &samples, NULL) ||
            root->samples > SAMPLES_MAX || g_strv_length(fields) > FLAME_DEPTH_MAX)
                return false;
        root->samples += samples;
        for (char **field = fields + 1; *field; field++) {
                g_autofree char *name = NULL;

                if (**field != 'k' && **field != 'u')
                        return false;
                name = printable(*field + 1);
                frame = flame_add(frame, name, **field == 'k', samples);
        }
        frame->self += samples;
        return true;
}

static bool read_stacks(FlameFrame *root, const char *text, double *ret_msec) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        char *end;

        *ret_msec = lines[0] ? g_ascii_strtod(lines[0], &end) : 0;
        if (!lines[0] || end == lines[0] || *end || !(*ret_msec > 0) || *ret_msec > 1000)
                return false;
        for (char **line = lines + 1; *line; line++)
                if (**line && !read_stack(root, *line))
                        return false;
        return true;
}

static void add_text(GMarkupParseContext *context, const char *text, gsize length, void *data, GError **error) {
        g_string_append_len(data, text, (gssize) length);
}

FlameFrame *flame_stacks_read(const char *svg, gsize length, double *ret_msec, GError **error) {
        static const GMarkupParser parser = { .text = add_text };
        const char *begin = g_strstr_len(svg, (gssize) length, FLAME_STACKS_BEGIN);
        const char *end = begin ? g_strstr_len(begin, (gssize) (svg + length - begin), FLAME_STACKS_END) : NULL;
        g_autoptr(FlameFrame) root = flame_new("all");
        g_autoptr(GString) text = g_string_new(NULL);
        g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, text, NULL);
        gssize inside = end ? end + strlen(FLAME_STACKS_END) - begin : 0;

        if (!end || !g_markup_parse_context_parse(context, begin, inside, NULL) ||
            !read_stacks(root, text->str, ret_msec))
                return error_null(error, KT_ERROR_USAGE, "it is no picture of 'keyturnctl profile --output'");
        return g_steal_pointer(&root);
}
