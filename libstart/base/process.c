/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/base/process.h"

#ifndef PR_GET_MDWE /* Linux 6.3 */
# define PR_GET_MDWE 66
#endif

/* Before Linux 5.9 there is only the mode to be known, 2: a filter or some. */
static guint read_count(const char *status) {
        static const char count[] = "\nSeccomp_filters:\t";
        const char *line = strstr(status, count);

        return line ? (guint) g_ascii_strtoull(line + strlen(count), NULL, 10) :
                      strstr(status, "\nSeccomp:\t2") != NULL;
}

bool process_filters_count(guint *ret, GError **error) {
        g_autofree char *status = NULL;

        if (!g_file_get_contents("/proc/self/status", &status, NULL, error))
                return false;
        *ret = read_count(status) + (prctl(PR_GET_MDWE, 0, 0, 0, 0) > 0);
        return true;
}

int process_exit_status(int status) {
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t process_wait(pid_t pid, int *ret_status, int options) {
        pid_t ended;

        do
                ended = waitpid(pid, ret_status, options);
        while (ended < 0 && errno == EINTR);
        return ended;
}

/* The name before it may hold anything, and ends with the line's last parenthesis. */
char *process_read_stat(pid_t pid, guint number) {
        char path[64], stat[2048] = ""; /* a name has 16 bytes, and each of the fifty numbers 20 at most */
        _cleanup_close_ int fd = -1;
        const char *field;

        (void) snprintf(path, sizeof path, "/proc/%d/stat", (int) pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fd_read_begin(fd, stat, sizeof stat - 1) < 0)
                return NULL;
        errno = EINVAL;
        field = strrchr(stat, ')');
        for (guint i = 2; field && i < number; i++)
                field = strchr(field + 1, ' ');
        return field ? g_strndup(field + 1, strcspn(field + 1, " \n")) : NULL;
}

static bool is_child(pid_t pid) {
        g_autofree char *parent = process_read_stat(pid, 4);

        return parent && g_ascii_strtoll(parent, NULL, 10) == getpid();
}

static void kill_children(void) {
        g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
        const char *name;
        gint64 pid;

        while (dir && (name = g_dir_read_name(dir)))
                if (g_ascii_string_to_signed(name, 10, 1, G_MAXINT, &pid, NULL) && is_child((pid_t) pid))
                        (void) kill((pid_t) pid, SIGKILL);
}

void process_kill_descendants(void) {
        do
                kill_children();
        while (process_wait(-1, NULL, 0) > 0);
}

/* A line "0::PATH"; others are those of cgroup v1. */
char *process_find_cgroup(pid_t pid) {
        g_autofree char *path = pid != 0 ? g_strdup_printf("/proc/%d/cgroup", (int) pid) :
                                           g_strdup("/proc/self/cgroup");
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return NULL;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, "0::/"))
                        return g_strdup(*line + strlen("0::"));
        return NULL;
}
