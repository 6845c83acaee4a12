/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/profile/flame.h"

FlameFrame *flame_new(const char *name) {
        FlameFrame *frame = g_new0(FlameFrame, 1);

        frame->name = g_strdup(name);
        return frame;
}

/* As deep as a stack, of which perf takes 127 functions. */
static void free_child(void *data) { /* NOLINT(misc-no-recursion) */
        flame_free(data);
}

void flame_free(FlameFrame *frame) { /* NOLINT(misc-no-recursion) */
        g_free(frame->name);
        if (frame->children) {
                g_hash_table_unref(frame->by_name);
                g_ptr_array_unref(frame->children);
        }
        g_free(frame);
}

FlameFrame *flame_below(FlameFrame *frame, const char *name, bool is_kernel) {
        FlameFrame *child = frame->children ? g_hash_table_lookup(frame->by_name, name) : NULL;

        if (child)
                return child;
        if (!frame->children) {
                frame->children = g_ptr_array_new_with_free_func(free_child);
                frame->by_name = g_hash_table_new(g_str_hash, g_str_equal);
        }
        child = flame_new(name);
        child->is_kernel = is_kernel;
        g_ptr_array_add(frame->children, child);
        g_hash_table_insert(frame->by_name, child->name, child);
        return child;
}

static void add_tips(GHashTable *tips, const FlameFrame *frame) { /* NOLINT(misc-no-recursion) */
        if (frame->self > 0) {
                FlameTip *tip = g_hash_table_lookup(tips, frame->name);

                if (!tip) {
                        tip = g_new0(FlameTip, 1);
                        *tip = (FlameTip) { .name = frame->name, .is_kernel = frame->is_kernel };
                        g_hash_table_insert(tips, frame->name, tip);
                }
                tip->samples += frame->self;
        }
        for (guint i = 0; frame->children && i < frame->children->len; i++)
                add_tips(tips, frame->children->pdata[i]);
}

static int compare_tips(const void *a, const void *b) {
        const FlameTip *x = a, *y = b;

        return x->samples == y->samples ? g_strcmp0(x->name, y->name) : x->samples < y->samples ? 1 : -1;
}

GArray *flame_find_tips(const FlameFrame *frame) {
        g_autoptr(GHashTable) tips = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        GArray *sorted = g_array_new(FALSE, FALSE, sizeof(FlameTip));
        GHashTableIter iter;
        void *tip;

        add_tips(tips, frame);
        g_hash_table_iter_init(&iter, tips);
        while (g_hash_table_iter_next(&iter, NULL, &tip))
                g_array_append_vals(sorted, tip, 1);
        g_array_sort(sorted, compare_tips);
        return sorted;
}
