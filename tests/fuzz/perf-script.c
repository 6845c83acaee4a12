/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/ctl/profile/flame-stacks.h"
#include "libstart/ctl/profile/samples.h"
#include "tests/fuzz/fuzz.h"

static void require_sums(const FlameFrame *frame) {
        g_autoptr(GList) children = flame_children(frame);
        guint64 sum = frame->self;

        for (const GList *at = children; at; at = at->next) {
                const FlameFrame *child = at->data;

                sum += child->samples;
                require_sums(child);
        }
        require(sum == frame->samples, "'%s' is not what is below it", frame->name);
}

static void require_xml(const char *svg) {
        const GMarkupParser nothing = { 0 };
        GMarkupParseContext *xml = g_markup_parse_context_new(&nothing, G_MARKUP_TREAT_CDATA_AS_TEXT, NULL, NULL);

        require(g_markup_parse_context_parse(xml, svg, -1, NULL) && g_markup_parse_context_end_parse(xml, NULL),
                "the picture is no XML");
        g_markup_parse_context_free(xml);
}

/* Whatever a payload has called itself and its functions, no sample is lost, and there is a picture. */
/* What is drawn can be read. (Two names may look the same when they are printable.) */
static void require_same_samples(const FlameFrame *root, const char *svg) {
        double msec;
        g_autoptr(FlameFrame) read = flame_stacks_read(svg, strlen(svg), &msec, NULL);

        require(read, "'%s' cannot be read", svg);
        require(read->samples == root->samples, "some samples are lost");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(Samples) samples = samples_new();

        parts_set(samples->parts, 7, PART_PAYLOAD, true);
        for (char **line = lines; *line; line++)
                samples_add_line(samples, *line);
        samples_end(samples);
        require_sums(samples->root);
        const FlameGraph graphs[] = { { 0 }, { samples->root, 1 } };
        const FlameFrame *idle = flame_find(samples->root, part_looks[PART_IDLE].name);
        g_autoptr(GArray) tips = flame_find_tips(graphs);
        require((tips->len > 0) == (samples->root->samples > (idle ? idle->samples : 0)), "nobody has the samples");
        g_autofree char *svg = flame_format_svg(graphs, text);
        require_xml(svg);
        require_same_samples(samples->root, svg);
        return 0;
}
