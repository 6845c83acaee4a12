/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/mman.h>
#include <time.h>

#include "libstart/run/timing.h"

struct Timing {
        gint64 nsec[N_TIMING_MARKS]; /* CLOCK_MONOTONIC; 0: not reached */
};

/* The phase that ends with each mark. */
static const char *const names[N_TIMING_MARKS] = {
        [TIMING_IMAGE] = "image",         [TIMING_ROOT] = "root",     [TIMING_SPEC] = "spec",
        [TIMING_FILTER] = "filter",       [TIMING_RUNTIME] = "state", [TIMING_NAMESPACE] = "namespaces",
        [TIMING_MOUNTS] = "mounts",       [TIMING_EXEC] = "confine",  [TIMING_STARTED] = "exec",
        [TIMING_TOLD] = "hand-over",
};

Timing *timing_new(void) {
        void *memory = mmap(NULL, sizeof(Timing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (memory == MAP_FAILED)
                memory = mmap(NULL, sizeof(Timing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? NULL : memory;
}

void timing_free(Timing *timing) {
        if (timing)
                munmap(timing, sizeof *timing);
}

void timing_mark(Timing *timing, TimingMark mark) {
        struct timespec now;

        if (!timing)
                return;
        clock_gettime(CLOCK_MONOTONIC, &now);
        timing->nsec[mark] = (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

char *timing_format(const Timing *timing) {
        GString *text = g_string_new(NULL);
        gint64 last = timing ? timing->nsec[TIMING_MAIN] : 0;

        for (int mark = TIMING_IMAGE; timing && mark < N_TIMING_MARKS; mark++) {
                if (timing->nsec[mark] == 0)
                        continue;
                g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", names[mark],
                                       (timing->nsec[mark] - last) / 1000);
                last = timing->nsec[mark];
        }
        if (timing && timing->nsec[TIMING_EXEC] != 0)
                g_string_append_printf(text, "total %" G_GINT64_FORMAT "\n",
                                       (timing->nsec[TIMING_EXEC] - timing->nsec[TIMING_MAIN]) / 1000);
        return g_string_free(text, FALSE);
}
