/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/profile/flame.h"
#include "libstart/ctl/profile/parts.h"

FlameFrame *flame_new(const char *name) {
        FlameFrame *frame = g_new0(FlameFrame, 1);

        frame->name = g_strdup(name);
        return frame;
}

/* As deep as a stack, of which perf takes 127 functions. */
void flame_free(FlameFrame *frame) {
        g_clear_pointer(&frame->children, g_hash_table_unref);
        g_free(frame->name);
        g_free(frame);
}

const FlameFrame *flame_find(const FlameFrame *frame, const char *name) {
        return frame && frame->children ? g_hash_table_lookup(frame->children, name) : NULL;
}

FlameFrame *flame_add(FlameFrame *frame, const char *name, bool is_kernel, guint64 samples) {
        FlameFrame *child = (FlameFrame *) flame_find(frame, name);

        if (!child) {
                if (!frame->children)
                        frame->children = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                                                (GDestroyNotify) flame_free);
                child = flame_new(name);
                child->is_kernel = is_kernel;
                g_hash_table_insert(frame->children, child->name, child);
        }
        child->samples += samples;
        return child;
}

static int compare_names(const void *a, const void *b) {
        return g_strcmp0(((const FlameFrame *) a)->name, ((const FlameFrame *) b)->name);
}

GList *flame_children(const FlameFrame *frame) {
        return frame->children ? g_list_sort(g_hash_table_get_values(frame->children), compare_names) : NULL;
}

static void add_tips(GHashTable *tips, const char *part, const FlameFrame *frame, int side) {
        g_autoptr(GList) children = flame_children(frame);

        if (frame->self > 0) {
                FlameTip *tip = g_hash_table_lookup(tips, frame->name);

                if (!tip) {
                        tip = g_new0(FlameTip, 1);
                        *tip = (FlameTip) { .part = part, .function = frame->name };
                        g_hash_table_insert(tips, frame->name, tip);
                }
                tip->samples[side] += frame->self;
        }
        for (const GList *child = children; child; child = child->next)
                add_tips(tips, part, child->data, side);
}

static int compare_tips(const void *a, const void *b) {
        const FlameTip *x = a, *y = b;
        double of_x = ABS(x->change), of_y = ABS(y->change);

        return of_x < of_y ? 1 : of_x > of_y ? -1 : g_strcmp0(x->function, y->function);
}

/* The functions of one part, each once. */
static void append_tips(GArray *all, const char *part, const FlameGraph graphs[2]) {
        g_autoptr(GHashTable) tips = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        g_autoptr(GList) found = NULL;

        for (int side = 0; side < 2; side++) {
                const FlameFrame *frame = flame_find(graphs[side].root, part);

                if (frame)
                        add_tips(tips, part, frame, side);
        }
        found = g_hash_table_get_values(tips);
        for (const GList *at = found; at; at = at->next) {
                FlameTip *tip = at->data;

                tip->change = (double) tip->samples[1] * graphs[1].msec - (double) tip->samples[0] * graphs[0].msec;
                g_array_append_vals(all, tip, 1);
        }
}

GArray *flame_find_tips(const FlameGraph graphs[2]) {
        GArray *tips = g_array_new(FALSE, FALSE, sizeof(FlameTip));

        for (int part = 0; part < PART_IDLE; part++)
                append_tips(tips, part_looks[part].name, graphs);
        g_array_sort(tips, compare_tips);
        return tips;
}
