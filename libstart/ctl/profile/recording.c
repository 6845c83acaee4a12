/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/process.h"
#include "libstart/ctl/profile/recording.h"

enum { ANSWER_MSEC = 20000, SAID_MAX = 4096 };

struct Recording {
        GPid perf;   /* 0: it has ended */
        int control; /* commands to it */
        int answers;
        int data, said; /* files that have no names any more: what it records, its standard error */
};

/* Neither ~/.perfconfig, nor symbols from the network. In systemd-nspawn, perf does not find sysfs by itself. */
static const char *const environment[] = { "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                                           "HOME=/nonexistent",
                                           "LC_ALL=C",
                                           "SYSFS_PATH=/sys",
                                           "PERF_PAGER=cat",
                                           NULL };

static int open_nameless(GError **error) {
        g_autofree char *path = NULL;
        int fd = g_file_open_tmp("keyturn-profile-XXXXXX", &path, error);

        if (fd >= 0)
                unlink(path);
        return fd;
}

/* What perf complains of is put into one line. */
static bool fail(int said, const char *what, GError **error) {
        char text[SAID_MAX + 1] = "";

        if (pread(said, text, SAID_MAX, 0) < 0)
                text[0] = '\0';
        g_strdelimit(g_strstrip(text), "\n", ' ');
        return error_set(error, KT_ERROR_FAILED, "perf cannot %s: %s", what, text[0] ? text : "it has not said why");
}

static bool spawn(Recording *recording, guint frequency, const int *fds, GError **error) {
        g_autofree char *hertz = g_strdup_printf("--freq=%u", frequency);
        /* cpu-clock is there on any processor, and in any virtual machine. How much there is to record, of what they
         * map, is up to payloads. */
        const char *const words[] = { "setpriv",    "--pdeathsig=SIGKILL", "perf",         "record",
                                      "--quiet",    "--event=cpu-clock",   "--all-cpus",   "-g",
                                      hertz,        "--max-size=512M",     "--no-buildid", "--no-buildid-cache",
                                      "--delay=-1", "--control=fd:3,4",    "--output=-",   NULL };
        static const int targets[] = { 3, 4 };

        return g_spawn_async_with_pipes_and_fds(NULL, words, environment,
                                                G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, -1,
                                                recording->data, recording->said, fds, targets, G_N_ELEMENTS(targets),
                                                &recording->perf, NULL, NULL, NULL, error);
}

Recording *recording_begin(guint frequency, GError **error) {
        g_autoptr(Recording) recording = g_new0(Recording, 1);
        int control[2] = { -1, -1 }, answers[2] = { -1, -1 };
        bool done;

        *recording = (Recording) { .control = -1, .answers = -1, .data = -1, .said = -1 };
        for (const char *const *name = (const char *const[]) { "perf", "setpriv", NULL }; *name; name++) {
                g_autofree char *path = g_find_program_in_path(*name);

                if (!path)
                        return error_null(error, KT_ERROR_NOT_FOUND, "'%s' is not installed: %s", *name,
                                          (*name)[0] == 'p' ? "Debian's package linux-perf has it, Fedora's perf" :
                                                              "util-linux has it");
        }
        if ((recording->data = open_nameless(error)) < 0 || (recording->said = open_nameless(error)) < 0)
                return NULL;
        if (pipe2(control, O_CLOEXEC) != 0 || pipe2(answers, O_CLOEXEC) != 0) {
                fds_close(control, 2);
                return error_null_errno(error, errno, "Cannot make a pipe");
        }
        recording->control = control[1];
        recording->answers = answers[0];
        done = spawn(recording, frequency, (const int[]) { control[0], answers[1] }, error);
        close(control[0]);
        close(answers[1]);
        return done ? g_steal_pointer(&recording) : NULL;
}

/* perf answers "ack\n\0". One that has ended has closed the pipe. */
static bool tell(const Recording *recording, const char *what, const char *task, GError **error) {
        struct pollfd answer = { .fd = recording->answers, .events = POLLIN };
        char ack[16];

        signal(SIGPIPE, SIG_IGN);
        if (!fd_write_all(recording->control, what, strlen(what)) || poll(&answer, 1, ANSWER_MSEC) != 1 ||
            read(recording->answers, ack, sizeof(ack)) <= 0)
                return fail(recording->said, task, error);
        return true;
}

/* Only the samples: that processes are born and executed is recorded between them, too. */
bool recording_switch(Recording *recording, bool on, GError **error) {
        return tell(recording, on ? "enable cpu-clock\n" : "disable cpu-clock\n", "take samples", error);
}

void recording_wait(const Recording *recording, guint seconds) {
        struct pollfd end = { .fd = recording->answers, .events = POLLIN };

        (void) poll(&end, 1, (int) seconds * 1000);
}

static bool stop(Recording *recording, GError **error) {
        int status = 0;

        if (!tell(recording, "stop\n", "end its recording", error))
                return false;
        if (process_wait(recording->perf, &status, 0) < 0)
                return error_set_errno(error, errno, "Cannot wait for perf");
        recording->perf = 0;
        return status == 0 || fail(recording->said, "end its recording", error);
}

/* The kernel's symbols, which nobody may read. A file that may be opened again by whoever has it. */
static int copy_kernel_symbols(GError **error) {
        g_autofree char *text = NULL;
        gsize length;
        int fd;

        if (!g_file_get_contents("/proc/kallsyms", &text, &length, error))
                return -1;
        if (g_str_has_prefix(text, "0000000000000000 ") || g_str_has_prefix(text, "00000000 "))
                log_notice("The kernel's functions have no names, for kernel.kptr_restrict hides them: "
                           "sysctl kernel.kptr_restrict=1 shows them to root");
        fd = memfd_create("kallsyms", MFD_CLOEXEC);
        if (fd < 0 || !fd_write_all(fd, text, length)) {
                error_set_errno(error, errno, "Cannot copy /proc/kallsyms");
                fd_close(&fd);
        }
        return fd;
}

static void read_lines(FILE *file, Samples *samples) {
        char *line = NULL;
        size_t size = 0;
        ssize_t n;

        while ((n = getline(&line, &size, file)) > 0) {
                if (line[n - 1] == '\n')
                        line[n - 1] = '\0';
                samples_add_line(samples, line);
        }
        samples_end(samples);
        free(line);
        (void) fclose(file);
}

/* For code that has no file perf opens /tmp/perf-PID.map, which any user of the machine may have made: a FIFO. */
static void hide_tmp(G_GNUC_UNUSED void *data) {
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("keyturnctl", "/tmp", "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
                _exit(EXIT_KEYTURN);
}

bool recording_read(Recording *recording, Samples *samples, GError **error) {
        static const char *const words[] = { "setpriv",
                                             "--pdeathsig=SIGKILL",
                                             "--reuid=65534",
                                             "--regid=65534",
                                             "--clear-groups",
                                             "--bounding-set=-all",
                                             "--no-new-privs",
                                             "perf",
                                             "script",
                                             "--input=-",
                                             "--kallsyms=/proc/self/fd/3",
                                             "--no-inline",
                                             "--show-task-events",
                                             "--fields=comm,pid,tid,ip,sym,dso",
                                             NULL };
        static const int target = 3;
        _cleanup_close_ int symbols = -1;
        int output, status = 0;
        FILE *lines;
        GPid perf;

        if (!stop(recording, error) || (symbols = copy_kernel_symbols(error)) < 0)
                return false;
        if (lseek(recording->data, 0, SEEK_SET) != 0 || lseek(recording->said, 0, SEEK_SET) != 0 ||
            ftruncate(recording->said, 0) != 0)
                return error_set_errno(error, errno, "Cannot read what perf has recorded");
        if (!g_spawn_async_with_pipes_and_fds(
                    NULL, words, environment, G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD, hide_tmp, NULL,
                    recording->data, -1, recording->said, &symbols, &target, 1, &perf, NULL, &output, NULL, error))
                return false;
        lines = fdopen(output, "re");
        if (!lines)
                return error_set_errno(error, errno, "Cannot read from perf");
        read_lines(lines, samples);
        if (process_wait(perf, &status, 0) < 0)
                return error_set_errno(error, errno, "Cannot wait for perf");
        return status == 0 || fail(recording->said, "read its recording", error);
}

void recording_free(Recording *recording) {
        if (recording->perf > 0) {
                kill(recording->perf, SIGKILL);
                (void) process_wait(recording->perf, NULL, 0);
        }
        fds_close((const int[]) { recording->control, recording->answers, recording->data, recording->said }, 4);
        g_free(recording);
}
