/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/journal-message.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/hostname.h"
#include "libstart/oci/notify.h"
#include "libstart/oci/spec.h"
#include "libstart/option/env-list.h"
#include "libstart/option/notify-mode.h"
#include "libstart/option/signal-name.h"
#include "libstart/run/etc-content.h"
#include "libstart/run/etc-files.h"
#include "libstart/run/filter.h"
#include "libstart/run/hand-over.h"
#include "libstart/run/host-path.h"
#include "libstart/run/host.h"
#include "libstart/run/mounts.h"
#include "libstart/run/payload-input.h"
#include "libstart/run/payload-log.h"
#include "libstart/run/payload-notify.h"
#include "libstart/run/root-file.h"
#include "libstart/run/root.h"
#include "libstart/run/runtime.h"
#include "libstart/run/start.h"
#include "libstart/run/state-dir.h"
#include "libstart/run/timing.h"

/* A start, in the order in which it goes. Until the payload is executed anything may fail, and then nothing is left
 * but files of known names in the state directory, which systemd removes. After that nothing may fail: the container
 * runs. */
struct Start {
        const LaunchArgs *args;
        StateDir state_dir;
        ExecReport report;
        Notify *notify;
        Host host;
        Root root;
        UserIdentity user;
        char *passwd, *group; /* the image's files, or NULL */
        char **environment;
        GPtrArray *environment_texts; /* whose strings are in there */
        GPtrArray *file_mounts;
        runtime_spec_schema_config_schema *spec;
        GBytes *filter;
        PayloadLog log;
        PayloadNotify payload_notify;
        Timing *timing;
};

void start_free(Start *start) {
        if (!start)
                return;
        state_dir_clear(&start->state_dir);
        exec_report_close(&start->report);
        notify_free(start->notify);
        host_clear(&start->host);
        root_clear(&start->root);
        user_identity_clear(&start->user);
        g_free(start->passwd);
        g_free(start->group);
        g_free(start->environment);
        g_clear_pointer(&start->environment_texts, g_ptr_array_unref);
        g_clear_pointer(&start->file_mounts, g_ptr_array_unref);
        free_runtime_spec_schema_config_schema(start->spec);
        g_clear_pointer(&start->filter, g_bytes_unref);
        payload_log_close(&start->log);
        payload_notify_close(&start->payload_notify);
        timing_free(start->timing);
        g_free(start);
}

static Start *start_new(const LaunchArgs *args) {
        static const Start empty = {
                .state_dir = { .lock = -1 },
                .report = EXEC_REPORT_NULL,
                .root = ROOT_NULL,
                .log = PAYLOAD_LOG_NULL,
                .payload_notify = PAYLOAD_NOTIFY_NULL,
        };
        Start *start = g_memdup2(&empty, sizeof empty);

        start->args = args;
        return start;
}

static bool read_identity(Start *start, GError **error) {
        const char *user = start->args->user ?: start->root.config->user;

        return root_file_read(start->root.fd, "etc/passwd", &start->passwd, error) &&
               root_file_read(start->root.fd, "etc/group", &start->group, error) &&
               user_resolve(user, start->passwd, start->group, &start->user, error) &&
               user_add_groups(&start->user, start->args->group_add, start->group, error);
}

/* Their contents are added to `contents` and to what the environment owns. */
static bool read_env_files(Start *start, GPtrArray *contents, GError **error) {
        for (guint i = 0; i < start->args->env_files->len; i++) {
                const char *path = start->args->env_files->pdata[i];
                char *content = NULL;
                gsize length;

                if (!host_path_read(path, start->args->untrusted_list, &content, &length, error)) {
                        g_prefix_error(error, "Environment file: ");
                        return false;
                }
                g_ptr_array_add(start->environment_texts, content);
                g_ptr_array_add(contents, content);
                if (strlen(content) != length)
                        return error_set(error, KT_ERROR_FAILED, "Environment file '%s' has a NUL byte", path);
        }
        g_ptr_array_add(contents, NULL);
        return true;
}

static GPtrArray *read_env_list(Start *start, GError **error) {
        char *data = NULL;
        GPtrArray *all = env_list_read(start->args->env_list, start->args->env, &data, error);

        g_ptr_array_add(start->environment_texts, data);
        return all;
}

static bool make_environment(Start *start, GError **error) {
        g_autoptr(GPtrArray) files = g_ptr_array_new(), list = NULL;

        start->environment_texts = g_ptr_array_new_with_free_func(g_free);
        if (!read_env_files(start, files, error))
                return false;
        if (start->args->env_list) {
                list = read_env_list(start, error);
                if (!list)
                        return false;
        }
        const EnvironmentInput input = {
                .args = start->args,
                .image = start->root.config,
                .user = &start->user,
                .host = &start->host.facts,
                .files = (char *const *) files->pdata,
                .env = list ?: start->args->env,
        };
        start->environment = environment_build(&input, start->environment_texts, error);
        return start->environment;
}

/* Where systemd does not listen to us it does not listen to the payload. */
static char *find_notify_socket(const Start *start) {
        if (!start->args->sdnotify || !getenv("NOTIFY_SOCKET"))
                return NULL;
        return payload_notify_path(start->state_dir.private_path ?: "/");
}

/* For running, the environment stays out of the spec: runtime.c has it as it is, and a copy of thousands of variables
 * would only cost. */
static bool build_spec(Start *start, bool for_running, GError **error) {
        static const char *const none[] = { NULL };

        start->host.facts.rootfs_mount = g_strdup(start->root.mount_point);
        start->host.facts.notify_socket = find_notify_socket(start);
        if (!make_environment(start, error))
                return false;
        start->spec = spec_build(start->args, start->root.config, &start->user, &start->host.facts,
                                 for_running ? none : (const char *const *) start->environment, start->file_mounts,
                                 error);
        return start->spec;
}

static bool make_workdir(const Start *start, GError **error) {
        const char *workdir = start->args->workdir ?: start->root.config->working_dir;

        /* The image's is made if it is missing; one that the user names must exist: see require_workdir(). */
        if (start->args->workdir || !workdir || start->root.directory)
                return true;
        return root_file_make_directory(start->root.fd, workdir, start->user.uid, start->user.gid, error);
}

static bool is_below_mount(const runtime_spec_schema_config_schema *spec, const char *path) {
        for (size_t i = 0; i < spec->mounts_len; i++)
                if (mount_covers(spec->mounts[i], path))
                        return true;
        return false;
}

/* A working directory that the user names and that is not there is a mistake in the file, as with Podman; libcrun
 * would make it. What a mount will bring cannot be looked at yet. */
static bool require_workdir(const Start *start, GError **error) {
        const char *workdir = start->args->workdir;

        if (!workdir || is_below_mount(start->spec, workdir))
                return true;
        return root_file_check_directory(start->root.fd, workdir, error);
}

static bool require_etc_files(const Start *start, GError **error) {
        return etc_files_check(start->args, start->spec->mounts, start->spec->mounts_len,
                               start->state_dir.private_path, error);
}

static bool make_volumes(const Start *start, GError **error) {
        if (start->root.directory)
                return true;
        for (char **volume = start->root.config->volumes; volume && *volume; volume++)
                if (!root_file_make_directory(start->root.fd, *volume, 0, 0, error))
                        return false;
        return true;
}

/* What depends on who the user is, and so could not be written before the root was mounted. */
static bool complete_root(Start *start, const char *hostname, GError **error) {
        const char *workdir = start->args->workdir ?: start->root.config->working_dir;
        g_autofree char *passwd = etc_passwd(start->passwd, &start->user, workdir ?: "/");
        g_autofree char *group = etc_group(start->group, &start->user);

        if (start->root.directory) {
                start->file_mounts = etc_files_write_apart(start->root.layer.mount, start->root.layer_place,
                                                           start->root.fd, start->args, hostname, passwd, group,
                                                           error);
                return start->file_mounts;
        }
        return (!passwd || root_file_write(start->root.fd, "etc/passwd", passwd, error)) &&
               (!group || root_file_write(start->root.fd, "etc/group", group, error)) && make_workdir(start, error) &&
               make_volumes(start, error);
}

/* Only systemd sends the signal, and only the unit tells it which. */
static void remind_of_stop_signal(const Start *start) {
        const char *signal = start->root.config->stop_signal;
        int number;

        if (signal && !start->args->stop_signal && signal_name_parse(signal, &number, NULL) && number != SIGTERM)
                log_notice("The image wants to be stopped by %s, and is stopped by SIGTERM; "
                           "add StopSignal=%s to [Container]",
                           signal, signal);
}

static bool find_root(Start *start, GError **error) {
        bool found = state_dir_make(start->args->state_dir, start->args->name, &start->state_dir, error) &&
                     host_gather(&start->host, error) && root_find(start->args, &start->root, error);

        timing_mark(start->timing, TIMING_IMAGE);
        if (found)
                remind_of_stop_signal(start);
        return found;
}

static bool prepare_root(Start *start, GError **error) {
        g_autofree char *hostname = hostname_choose(start->args, &start->host.facts);
        bool mounted = root_mount(&start->root, start->args, start->state_dir.private_path, hostname, error) &&
                       read_identity(start, error) && complete_root(start, hostname, error);

        timing_mark(start->timing, TIMING_ROOT);
        return mounted;
}

static bool open_payload_notify(Start *start, GError **error) {
        return !notify_is_for_container(start->args, &start->host.facts) ||
               payload_notify_open(&start->payload_notify, start->state_dir.private_path, error);
}

static bool prepare(Start *start, GError **error) {
        umask(0); /* modes below are meant as they stand */
        if (!find_root(start, error) || !prepare_root(start, error) || !build_spec(start, true, error) ||
            !require_workdir(start, error) || !require_etc_files(start, error))
                return false;
        timing_mark(start->timing, TIMING_SPEC);
        if (!filter_load(start->args, start->root.config, &start->host.facts, &start->filter, error))
                return false;
        timing_mark(start->timing, TIMING_FILTER);
        return open_payload_notify(start, error) && payload_input_open(start->args, error) &&
               payload_log_open(&start->log, start->args, &start->user, error);
}

static int exec_failure(const Start *start, int errnum, GError **error) {
        error_set_errno(error, errnum, "Cannot execute '%s' in the container%s", start->spec->process->args[0],
                        errnum == ENOENT ? " (or the interpreter or loader that it names)" : "");
        return errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* The name of the service: that of its RuntimeDirectory=. */
static char *unit_name(const Start *start) {
        g_autofree char *base = g_path_get_basename(start->state_dir.path);

        return g_strconcat(base, ".service", NULL);
}

/* The journal is told the unit, as this process may be gone before journald looks where it came from. */
static bool tell_journal(const Start *start, const char *message) {
        g_autofree char *unit = unit_name(start);
        g_autofree char *phases = timing_format_fields(start->timing);
        g_autofree char *fields = g_strdup_printf("%sOBJECT_SYSTEMD_UNIT=%s\n", phases, unit);

        return journal_message_send("libstart", LOG_INFO, MESSAGE_ID_TIMING, message, fields, NULL);
}

/* For `keyturnctl analyze`; after the start, so that it costs the start nothing. */
static void report_timing(const Start *start) {
        g_autofree char *path = g_build_filename(start->state_dir.path, ".timing", NULL);
        g_autofree char *text = timing_format(start->timing);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        if (fd >= 0)
                (void) !write(fd, text, strlen(text));
        if (start->args->timing != FLAG_TRUE)
                return;

        g_autofree char *message = g_strconcat("Timing, in microseconds:\n", text, NULL);

        /* Whoever calls libstart by hand reads it, not the journal. */
        if (getenv("JOURNAL_STREAM") && tell_journal(start, message))
                return;
        log_info("Timing, in microseconds:");
        log_lines(text);
}

static bool payload_started(pid_t payload, void *data, GError **error) {
        Start *start = data;
        g_autofree char *unit = unit_name(start);

        return payload_log_started(&start->log, start->args, &start->user, unit, payload, error);
}

static void payload_ended(pid_t payload, void *data) {
        Start *start = data;

        payload_notify_drain(&start->payload_notify, start->notify, payload);
}

/* A payload that nobody hears would be waited for in vain. */
static bool hand_over_notify(Start *start, pid_t main_process, GError **error) {
        g_autofree char *unit = unit_name(start);
        bool done = payload_notify_hand_over(&start->payload_notify, unit, main_process, error);

        if (!done && main_process != getpid())
                kill(main_process, SIGKILL);
        return done;
}

static int run_detached(Start *start, const RuntimeContainer *container, GError **error) {
        const HandOverCalls calls = {
                .started = payload_started,
                .ended = start->payload_notify.socket >= 0 ? payload_ended : NULL,
                .data = start,
        };
        NotifyMode mode = NOTIFY_CONMON;
        HandOver result;

        if (start->args->sdnotify && !notify_mode_parse(start->args->sdnotify, &mode, error))
                return EXIT_KEYTURN;
        if (!hand_over(container, start->notify, mode == NOTIFY_CONMON ? "READY=1\n" : "", &calls, &result, error))
                return EXIT_KEYTURN;
        if (result.exec_errno != 0)
                return exec_failure(start, result.exec_errno, error);
        if (!result.exited && !hand_over_notify(start, result.payload, error))
                return EXIT_KEYTURN;
        report_timing(start);
        if (result.exited)
                hand_over_end_as(result.status);
        return EXIT_SUCCESS;
}

static int run_attached(Start *start, const RuntimeContainer *container, GError **error) {
        int status, errnum;

        if (!payload_started(getpid(), start, error) || !hand_over_notify(start, getpid(), error))
                return EXIT_KEYTURN;
        status = runtime_run(container, error);
        if (status < 0 || !exec_report_wait(&start->report, &errnum, error))
                return EXIT_KEYTURN;
        if (errnum != 0)
                return exec_failure(start, errnum, error);
        report_timing(start);
        return status;
}

static int run_container(Start *start, GError **error) {
        int listen_fds = host_listen_fds();

        start->timing = timing_new();
        /* First of all, while its place behind the activated sockets is free. */
        if (!exec_report_open(&start->report, 3 + listen_fds, error))
                return EXIT_KEYTURN;
        start->notify = notify_open(error);
        if (*error || !prepare(start, error))
                return g_error_matches(*error, KT_ERROR, KT_ERROR_NOT_EXECUTABLE) ? EXIT_NOT_EXECUTABLE :
                                                                                    EXIT_KEYTURN;

        RuntimeContainer container = {
                .state_root = start->state_dir.path,
                .id = start->args->name,
                .spec = start->spec,
                .environment = start->environment,
                .filter = start->filter,
                .root_mount = start->root.mount,
                .layer_mount = start->root.place == OVERLAY_DETACHED ? start->root.layer.mount : -1,
                .layer_place = start->root.layer_place,
                .untrusted_list = start->args->untrusted_list,
                .preserve_fds = listen_fds,
                .report = &start->report,
                .timing = start->timing,
                .detach = start->args->detach == FLAG_TRUE,
        };
        return container.detach ? run_detached(start, &container, error) : run_attached(start, &container, error);
}

int start_container(const LaunchArgs *args, Start **ret, GError **error) {
        Start *start = *ret = start_new(args);
        int status = run_container(start, error);

        payload_log_close(&start->log); /* what the caller may have to say is not the payload's */
        if (*error || args->detach != FLAG_TRUE) {
                root_unmount(&start->root);
                state_dir_discard(&start->state_dir);
        }
        return status;
}

char *start_print_spec(const LaunchArgs *args, GError **error) {
        g_autoptr(Start) start = start_new(args);

        if (!host_gather(&start->host, error) || !root_find(args, &start->root, error) ||
            !root_peek(&start->root, error) || !read_identity(start, error) || !build_spec(start, false, error))
                return NULL;
        return spec_to_json(start->spec, error);
}
