/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/ctl/profile/flame.h"
#include "libstart/ctl/profile/parts.h"

/* The lines of `perf script --show-task-events -F comm,pid,tid,ip,sym,dso`, folded. Pure.
 *
 * The threat: perf escapes nothing, and processes name themselves and their functions as they like, with line breaks
 * and with what perf writes itself. So no line is an error; what a forged one can do is to have time counted for
 * another name. */
typedef struct Samples {
        Parts *parts;
        FlameFrame *root;
        GPtrArray *stack; /* of the sample that is being read, the innermost function first: "kread", "umain" */
        int pid;          /* -1: none is */
        bool has_libstart_names, lacks_libstart_names;
} Samples;

Samples *samples_new(void);
void samples_free(Samples *samples);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Samples, samples_free)

/* Without its line break. */
void samples_add_line(Samples *samples, const char *line);

/* After the last line. */
void samples_end(Samples *samples);
