/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <libcrun/container.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/keyring.h"
#include "libstart/base/log.h"
#include "libstart/base/path-value.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/payload.h"
#include "libstart/ctl/streams.h"
#include "libstart/oci/user.h"

/* A command beside the payload: in its namespaces and cgroup, with its user, capabilities and filter, which libcrun
 * reads from what libstart left in the state. Never with more than the payload has, and with nothing of the caller's.
 *
 * The threat: the payload watches for whoever comes in, and is root or the same user there. A process of ours, forked
 * from the one that the caller waits for, runs libcrun; what it holds can become the payload's:
 *  - descriptors: streams.c;
 *  - the host's program (CVE-2019-5736): own-program.h, which main() calls first, and libcrun where that cannot be;
 *  - its memory and its capabilities, before it executes the command (CVE-2016-9962): libcrun makes it not dumpable, so
 *    that only a payload that was given CAP_SYS_PTRACE can trace it, and that is as good as being root on the host;
 *  - the files that it reads in the container, which are the payload's: for a message in the caller's language, libc
 *    might load a catalogue there, and for his character set, code. So what libcrun says is English;
 *  - keys, and the protection from the out-of-memory killer, that the caller's session has. */

typedef runtime_spec_schema_config_schema_process Process;

static bool find_state(const ContainerUnit *container, char **ret_root, char **ret_config, GError **error) {
        g_autofree char *root = container_unit_state_dir(container);

        if (!payload_check_running(container, error))
                return false;
        *ret_config = g_build_filename(root, container->args->name, "config.json", NULL);
        *ret_root = g_steal_pointer(&root);
        return true;
}

/* Where the file is missing libcrun would run the command without a filter, also if the payload has one. */
static bool check_filter(const ContainerUnit *container, const char *root, GError **error) {
        g_autofree char *file = g_build_filename(root, container->args->name, "seccomp.bpf", NULL);
        g_autofree char *path = g_strdup_printf("/proc/%u/status", container->pid);
        g_autofree char *status = NULL;

        if (!g_file_get_contents(path, &status, NULL, error))
                return false;
        if (!strstr(status, "\nSeccomp:\t0") && access(file, R_OK) < 0)
                return error_set_errno(error, errno, "The payload has a seccomp filter, and '%s' is not there", file);
        return true;
}

/* Where the payload is: an init is in a cgroup below the service's, which cannot have processes of its own then. What is
 * not below that, for whatever reason, is not entered. */
static char *find_cgroup(const ContainerUnit *container) {
        g_autofree char *file = g_strdup_printf("/proc/%u/cgroup", container->pid);
        g_autofree char *text = NULL, *cgroup = NULL;
        const char *begin;

        if (!g_file_get_contents(file, &text, NULL, NULL) || !(begin = strstr(text, "0::/")))
                return NULL;
        begin += strlen("0::");
        cgroup = g_strndup(begin, strcspn(begin, "\n"));
        return path_value_covers(container->cgroup, cgroup) ? g_steal_pointer(&cgroup) : NULL;
}

/* So that the unit's limits count, and stopping it ends the command, too. */
static bool enter_cgroup(const ContainerUnit *container, GError **error) {
        g_autofree char *cgroup = find_cgroup(container);
        g_autofree char *path = g_build_filename("/sys/fs/cgroup", cgroup ?: container->cgroup, "cgroup.procs", NULL);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (container->cgroup[0] != '/' || fd < 0 || write(fd, "0", 1) != 1)
                return error_set_errno(error, errno, "Cannot enter the control group of %s ('%s')", container->unit,
                                       path);
        return true;
}

static char **join(char **first, size_t n, char **rest, size_t *ret_n) {
        size_t m = rest ? g_strv_length(rest) : 0;
        char **all = g_new0(char *, n + m + 1);

        for (size_t i = 0; i < n + m; i++)
                all[i] = g_strdup(i < n ? first[i] : rest[i - n]);
        *ret_n = n + m;
        return all;
}

/* Names are those of the container's own files. */
static bool set_user(const ContainerUnit *container, Process *process, const char *user, GError **error) {
        _cleanup_close_ int payload = payload_open(container, error);
        _cleanup_close_ int root = payload >= 0 ? payload_open_root(payload, /* clone= */ false, error) : -1;
        g_autofree char *passwd = NULL, *group = NULL;
        g_auto(UserIdentity) identity = { 0 };

        if (root < 0)
                return false;
        passwd = payload_read_file(root, "etc/passwd");
        group = payload_read_file(root, "etc/group");
        if (!user_resolve(user, passwd, group, &identity, error)) {
                g_prefix_error(error, "--user: ");
                return false;
        }
        process->user->uid = identity.uid;
        process->user->gid = identity.gid;
        process->user->additional_gids_len = identity.additional_gids->len;
        process->user->additional_gids = (gid_t *) (void *) g_array_free(g_steal_pointer(&identity.additional_gids),
                                                                         FALSE);
        return true;
}

/* From the beginning on: libcrun sets it before the command runs. */
static void set_size(Process *process) {
        struct winsize size;

        if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0)
                return;
        process->console_size = g_new0(runtime_spec_schema_config_schema_process_console_size, 1);
        process->console_size->width = size.ws_col;
        process->console_size->height = size.ws_row;
}

static bool adapt(const ContainerUnit *container, Process *process, const Options *options, char **command,
                  GError **error) {
        for (char **entry = options->env; entry && *entry; entry++)
                if (!strchr(*entry, '=') || **entry == '=')
                        return error_set(error, KT_ERROR_USAGE, "--env takes NAME=VALUE");
        process->args = join(command, g_strv_length(command), NULL, &process->args_len);
        process->env = join(process->env, process->env_len, options->env, &process->env_len);
        if (options->tty && !isatty(STDIN_FILENO))
                return error_set(error, KT_ERROR_USAGE,
                                 "--tty takes a terminal, and standard input is none: leave out -t");
        process->terminal = options->tty;
        if (options->tty)
                set_size(process);
        if (options->workdir)
                process->cwd = g_strdup(options->workdir);
        return !options->user || set_user(container, process, options->user, error);
}

static int exit_status(int errnum) {
        return errnum == ENOENT                                         ? EXIT_NOT_FOUND :
               errnum == EACCES || errnum == EPERM || errnum == ENOEXEC ? EXIT_NOT_EXECUTABLE :
                                                                          EXIT_KEYTURN;
}

static int fail(libcrun_error_t *err, GError **error) {
        int errnum = (*err)->status;

        error_set(error, KT_ERROR_FAILED, "%s%s%s", (*err)->msg, errnum > 0 ? ": " : "",
                  errnum > 0 ? g_strerror(errnum) : "");
        libcrun_error_release(err);
        return exit_status(errnum);
}

/* What libcrun forks cannot return an error: it writes it to standard error, tells this handler, and exits. The exit
 * status goes by way of memory that it shares. */
static int *forked_status;

static void log_output(int errnum, const char *message, int verbosity, void *arg) {
        if (verbosity == LIBCRUN_VERBOSITY_ERROR)
                *forked_status = exit_status(errnum);
}

static int run(const char *root, const ContainerUnit *container, Process *process, const char *console_socket,
               GError **error) {
        libcrun_error_t err = NULL;
        libcrun_context_t context = {
                .state_root = root,
                .id = container->args->name,
                .output_handler = log_output,
                .fifo_exec_wait_fd = -1,
                .console_socket = console_socket,
        };
        int r;

        forked_status = mmap(NULL, sizeof *forked_status, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (forked_status == MAP_FAILED) {
                error_set_errno(error, errno, "Cannot map memory");
                return EXIT_KEYTURN;
        }
        *forked_status = EXIT_KEYTURN;
        crun_set_output_handler(log_output, NULL);
        r = libcrun_container_exec(&context, context.id, process, &err);
        return r >= 0 ? r : err ? fail(&err, error) : *forked_status;
}

static bool copy_oom_score(const ContainerUnit *container, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%u/oom_score_adj", container->pid);
        g_autofree char *score = NULL;
        _cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

        if (!g_file_get_contents(path, &score, NULL, error))
                return false;
        return (fd >= 0 && write(fd, score, strlen(score)) > 0) ||
               error_set_errno(error, errno, "Cannot write '/proc/self/oom_score_adj'");
}

/* The process that runs libcrun, and waits for the command. If the caller's is killed, the command is told as if its
 * terminal had gone. */
static void run_inside(const char *root, const ContainerUnit *container, Process *process, Streams *streams,
                       const char *console_socket) G_GNUC_NORETURN;
static void run_inside(const char *root, const ContainerUnit *container, Process *process, Streams *streams,
                       const char *console_socket) {
        g_autoptr(GError) error = NULL;
        int status = EXIT_KEYTURN;

        (void) setlocale(LC_ALL, "C");
        if (streams_enter(streams, &error) && keyring_join_new(process->selinux_label, &error) &&
            copy_oom_score(container, &error) && enter_cgroup(container, &error))
                status = run(root, container, process, console_socket, &error);
        if (error)
                log_error("%s", error->message);
        _exit(status);
}

static int run_beside(const char *root, const ContainerUnit *container, Process *process, GError **error) {
        g_autofree char *socket = g_strdup_printf("%s/.exec-%d", root, (int) getpid());
        const char *console_socket = process->terminal ? socket : NULL;
        g_autoptr(Streams) streams = streams_new(console_socket, error);
        pid_t caller = getpid(), child;

        if (!streams)
                return -1;
        child = fork();
        if (child == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGHUP);
                if (getppid() != caller)
                        _exit(EXIT_KEYTURN);
                run_inside(root, container, process, streams, console_socket);
        }
        if (child < 0) {
                error_set_errno(error, errno, "Cannot fork");
                return -1;
        }
        return streams_copy(streams, child, error);
}

int command_exec(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autofree char *root = NULL, *config = NULL;
        libcrun_container_t *state;
        libcrun_error_t err = NULL;

        if (!words[0] || !words[1]) {
                error_set(error, KT_ERROR_USAGE, "'exec' takes a container and a command; see keyturnctl --help");
                return -1;
        }
        if (!container || !find_state(container, &root, &config, error) || !check_filter(container, root, error))
                return EXIT_KEYTURN;
        /* Where a filter of the caller's (SystemCallFilter=) forbids mounts, main() could not protect the program: libcrun
         * copies it. */
        if (libcrun_ensure_cloned_binary(&err) < 0)
                return fail(&err, error);
        state = libcrun_container_load_from_file(config, &err);
        if (!state)
                return fail(&err, error);
        if (!adapt(container, state->container_def->process, options, words + 1, error))
                return -1;
        return run_beside(root, container, state->container_def->process, error);
}
