/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/hook/hook-process.h"

typedef runtime_spec_schema_defs_hook Hook;

#define OUTPUT_MAX (8U * 1024U * 1024U)
#define WORDS_MAX 400 /* bytes of its standard error that stand in ours */

/* Files in memory instead of pipes: neither side waits for the other, in whatever order they read and write. */
typedef struct Streams {
        int input, output, errors;
} Streams;

static void streams_close(const Streams *streams) {
        fd_closep(&streams->input);
        fd_closep(&streams->output);
        fd_closep(&streams->errors);
}

static bool streams_open(Streams *streams, const char *input) {
        *streams = (Streams) {
                .input = memfd_create("hook-input", MFD_CLOEXEC),
                .output = memfd_create("hook-output", MFD_CLOEXEC),
                .errors = memfd_create("hook-errors", MFD_CLOEXEC),
        };
        return streams->input >= 0 && streams->output >= 0 && streams->errors >= 0 &&
               fd_write_all(streams->input, input, strlen(input)) && lseek(streams->input, 0, SEEK_SET) == 0;
}

/* Transfer full; NULL if there is too much of it. */
static char *read_stream(int fd) {
        struct stat st;
        g_autofree char *text = NULL;
        ssize_t n;

        if (fstat(fd, &st) < 0 || st.st_size > OUTPUT_MAX)
                return NULL;
        text = g_malloc((gsize) st.st_size + 1);
        n = fd_read_begin(fd, text, (size_t) st.st_size);
        if (n < 0)
                return NULL;
        text[n] = '\0';
        return g_steal_pointer(&text);
}

/* 0, or an errno. */
static int spawn(const Hook *hook, const char *directory, const Streams *streams, pid_t *ret_pid) {
        char *alone[] = { hook->path, NULL }, *nothing[] = { NULL };
        posix_spawn_file_actions_t actions;
        posix_spawnattr_t attributes;
        sigset_t none;
        mode_t mask;
        int r;

        sigemptyset(&none);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, streams->input, 0);
        posix_spawn_file_actions_adddup2(&actions, streams->output, 1);
        posix_spawn_file_actions_adddup2(&actions, streams->errors, 2);
        posix_spawn_file_actions_addclosefrom_np(&actions, 3);
        posix_spawn_file_actions_addchdir_np(&actions, directory);
        mask = umask(0022);
        r = posix_spawn(ret_pid, hook->path, &actions, &attributes, hook->args_len > 0 ? hook->args : alone,
                        hook->env_len > 0 ? hook->env : nothing);
        umask(mask);
        posix_spawn_file_actions_destroy(&actions);
        posix_spawnattr_destroy(&attributes);
        return r;
}

/* Returns 1; or 0, where it took too long, or -errno, where that cannot be told, and it and what it has started were
 * killed. */
static int wait_for(pid_t pid, int timeout, int *ret_status) {
        _cleanup_close_ int pidfd = timeout > 0 ? (int) syscall(SYS_pidfd_open, pid, 0) : -1;
        struct pollfd poll_fd = { .fd = pidfd, .events = POLLIN };
        int r = timeout > 0 && pidfd < 0 ? -errno : 1;

        if (pidfd >= 0)
                do
                        r = poll(&poll_fd, 1, timeout * 1000) < 0 ? -errno : poll_fd.revents != 0;
                while (r == -EINTR);
        if (r <= 0)
                kill(-pid, SIGKILL);
        return process_wait(pid, ret_status, 0) < 0 ? -errno : r;
}

static bool refuse(const Hook *hook, const Streams *streams, const char *how, GError **error) {
        g_autofree char *errors = read_stream(streams->errors);
        const char *said = errors ? g_strstrip(errors) : "";
        size_t length = strlen(said);

        if (length > WORDS_MAX)
                said += length - WORDS_MAX;
        return error_set(error, KT_ERROR_FAILED, "The hook '%s' %s%s%s", hook->path, how, said[0] ? ": " : "", said);
}

static bool check_end(const Hook *hook, const Streams *streams, bool in_time, int status, GError **error) {
        g_autofree char *how = NULL;

        if (!in_time)
                how = g_strdup_printf("took longer than %d s", hook->timeout);
        else if (WIFSIGNALED(status))
                how = g_strdup_printf("died of signal %d", WTERMSIG(status));
        else if (WEXITSTATUS(status) != 0)
                how = g_strdup_printf("failed with status %d", WEXITSTATUS(status));
        return !how || refuse(hook, streams, how, error);
}

bool hook_process_run(const Hook *hook, const char *directory, const char *input, char **ret_output, GError **error) {
        __attribute__((cleanup(streams_close))) Streams streams;
        int r, status;
        pid_t pid;

        if (!streams_open(&streams, input))
                return error_set_errno(error, errno, "Cannot run the hook '%s'", hook->path);
        r = spawn(hook, directory, &streams, &pid);
        if (r != 0)
                return error_set_errno(error, r, "Cannot run the hook '%s'", hook->path);
        r = wait_for(pid, hook->timeout, &status);
        if (r < 0)
                return error_set_errno(error, -r, "Cannot wait for the hook '%s'", hook->path);
        if (!check_end(hook, &streams, r > 0, status, error))
                return false;
        if (!ret_output)
                return true;
        *ret_output = read_stream(streams.output);
        return *ret_output || refuse(hook, &streams, "printed too much", error);
}
