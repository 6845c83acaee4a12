/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/journal-message.h"
#include "libstart/base/log.h"
#include "libstart/runtime/timing.h"

struct Timing {
        gint64 launch;               /* CLOCK_PROCESS_CPUTIME_ID when main() began, in ns */
        gint64 nsec[N_TIMING_MARKS]; /* CLOCK_MONOTONIC; 0: not reached */
};

/* The phase that ends with each mark. */
static const char *const names[N_TIMING_MARKS] = {
        [TIMING_MAIN] = "launch",   [TIMING_IMAGE] = "image",          [TIMING_ROOT] = "root",
        [TIMING_SPEC] = "spec",     [TIMING_FILTER] = "filter",        [TIMING_RUNTIME] = "state",
        [TIMING_MOUNTS] = "mounts", [TIMING_NAMESPACE] = "namespaces", [TIMING_EXEC] = "confine",
        [TIMING_STARTED] = "exec",  [TIMING_TOLD] = "hand-over",
};

static gint64 read_clock(clockid_t clock) {
        struct timespec now;

        clock_gettime(clock, &now);
        return (gint64) now.tv_sec * 1000000000 + now.tv_nsec;
}

Timing *timing_new(void) {
        void *memory = mmap(NULL, sizeof(Timing), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        Timing *timing;

        if (memory == MAP_FAILED)
                memory = mmap(NULL, sizeof(Timing), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED)
                return NULL;
        timing = memory;
        timing->launch = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        timing_mark(timing, TIMING_MAIN);
        return timing;
}

void timing_free(Timing *timing) {
        if (timing)
                munmap(timing, sizeof *timing);
}

void timing_mark(Timing *timing, TimingMark mark) {
        if (timing)
                timing->nsec[mark] = read_clock(CLOCK_MONOTONIC);
}

static void append_phase(const char *name, gint64 nsec, bool for_journal, GString *text) {
        gint64 usec = nsec / 1000;

        if (!for_journal) {
                g_string_append_printf(text, "%s %" G_GINT64_FORMAT "\n", name, usec);
                return;
        }
        g_autofree char *upper = g_ascii_strup(name, -1);
        g_strdelimit(upper, "-", '_');
        g_string_append_printf(text, "KEYTURN_%s_USEC=%" G_GINT64_FORMAT "\n", upper, usec);
}

/* One line a phase, "NAME MICROSECONDS": the time since the mark before it; then "total", up to the payload's
 * execution. The first phase, "launch", is processor time: what systemd's child did before it executed libstart, and
 * the loading of that. When systemd forked is not known. */
static char *format(const Timing *timing, bool for_journal) {
        GString *text = g_string_new(NULL);
        gint64 last = timing ? timing->nsec[TIMING_MAIN] - timing->launch : 0, first = last;

        for (int mark = TIMING_MAIN; timing && mark < N_TIMING_MARKS; mark++) {
                if (timing->nsec[mark] == 0)
                        continue;
                append_phase(names[mark], timing->nsec[mark] - last, for_journal, text);
                last = timing->nsec[mark];
        }
        if (timing && timing->nsec[TIMING_EXEC] != 0)
                append_phase("total", timing->nsec[TIMING_EXEC] - first, for_journal, text);
        return g_string_free(text, FALSE);
}

/* The journal is told the unit, as this process may be gone before journald looks where it came from. */
static bool tell_journal(const Timing *timing, const char *unit, const char *message) {
        g_autofree char *phases = format(timing, true);
        g_autofree char *fields = g_strdup_printf("%sOBJECT_SYSTEMD_UNIT=%s\n", phases, unit);

        return journal_message_send("libstart", LOG_INFO, MESSAGE_ID_TIMING, message, fields, NULL);
}

void timing_report(const Timing *timing, const char *directory, const char *unit, bool aloud) {
        g_autofree char *path = g_build_filename(directory, ".timing", NULL);
        g_autofree char *text = format(timing, false);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (fd >= 0)
                (void) !write(fd, text, strlen(text));
        if (!aloud)
                return;

        g_autofree char *message = g_strconcat("Timing, in microseconds:\n", text, NULL);
        if (getenv("JOURNAL_STREAM") && tell_journal(timing, unit, message))
                return;
        log_info("Timing, in microseconds:");
        log_lines(text);
}
