/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libcrun/container.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/path-value.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/ctl/exec/commands.h"
#include "libstart/ctl/exec/exec-restrictions.h"
#include "libstart/ctl/exec/streams.h"
#include "libstart/enter/enter-program.h"
#include "libstart/health/health-record.h"
#include "libstart/oci/user.h"
#include "libstart/request/launch-request.h"

/* A command of somebody's, as of enter.h; its streams: streams.c. */

/* Where the payload is: an init is in a cgroup below the service's, which cannot have processes of its own then. What
 * is not below that, for whatever reason, is not entered. */
static char *find_cgroup(const ContainerUnit *container) {
        g_autofree char *cgroup = process_find_cgroup((pid_t) container->pid);

        return cgroup && path_value_covers(container->cgroup, cgroup) ? g_steal_pointer(&cgroup) : NULL;
}

static void add_variables(EnterProcess *process, char **variables) {
        g_autoptr(GStrvBuilder) all = g_strv_builder_new();

        for (size_t i = 0; i < process->env_len; i++)
                g_strv_builder_add(all, process->env[i]);
        g_strv_builder_addv(all, (const char **) variables);
        process->env = g_strv_builder_end(all);
        process->env_len = g_strv_length(process->env);
}

/* Names, and which groups a user has, are in files that nobody sees: so it takes two numbers. */
static bool resolve_in_sandbox(const ContainerUnit *container, const char *user, UserIdentity *ret, GError **error) {
        return (user_resolve(user, NULL, NULL, ret, NULL) && ret->explicit_group) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': %s is in gVisor's sandbox, where nobody sees its /etc/passwd from outside: write two "
                         "numbers, UID:GID",
                         user, container->unit);
}

/* Names are those of the container's own files. */
static bool resolve(const ContainerUnit *container, const char *user, UserIdentity *ret, GError **error) {
        _cleanup_close_ int payload = payload_open(container, error);
        _cleanup_close_ int root = payload >= 0 ? payload_open_files(container, payload, /* clone= */ false, error) :
                                                  -1;
        g_autofree char *passwd = NULL, *group = NULL;

        if (root < 0)
                return false;
        passwd = payload_read_file(root, "etc/passwd");
        group = payload_read_file(root, "etc/group");
        return user_resolve(user, passwd, group, ret, error);
}

static bool set_user(const ContainerUnit *container, EnterProcess *process, const char *user, GError **error) {
        g_auto(UserIdentity) identity = { 0 };

        if (!(payload_is_in_sandbox(container) ? resolve_in_sandbox : resolve)(container, user, &identity, error))
                return error_prefix(error, "--user: ");
        process->user->uid = identity.uid;
        process->user->gid = identity.gid;
        process->user->additional_gids_len = identity.additional_gids->len;
        process->user->additional_gids = (gid_t *) (void *) g_array_free(g_steal_pointer(&identity.additional_gids),
                                                                         FALSE);
        return true;
}

/* From the beginning on: libcrun sets it before the command runs. */
static void set_size(EnterProcess *process) {
        struct winsize size;

        if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) < 0)
                return;
        process->console_size = g_new0(runtime_spec_schema_config_schema_process_console_size, 1);
        process->console_size->width = size.ws_col;
        process->console_size->height = size.ws_row;
}

static bool adapt(const ContainerUnit *container, EnterProcess *process, const Options *options, char **command,
                  GError **error) {
        for (char **entry = options->env; entry && *entry; entry++)
                if (!strchr(*entry, '=') || **entry == '=')
                        return error_set(error, KT_ERROR_USAGE, "--env takes NAME=VALUE");
        process->args = command;
        process->args_len = g_strv_length(command);
        if (options->env)
                add_variables(process, options->env);
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

/* The process that runs libcrun, and waits for the command. If the caller's is killed, the command is told as if its
 * terminal had gone. */
G_NORETURN static void run_inside(const Entry *entry, EnterProcess *process, Streams *streams,
                                  const char *console_socket) {
        g_autoptr(GError) error = NULL;
        bool is_ready = streams_enter(streams, &error) && enter_prepare(entry, process, &error);
        int status = is_ready ? enter_command(entry, process, console_socket, &error) : EXIT_KEYTURN;

        /* The command is what is not there. Users have no shell. */
        if (is_ready && g_error_matches(error, KT_ERROR, KT_ERROR_NOT_FOUND) && !user_view_is_here())
                log_error("%s: to look at it with the host's programs, keyturnctl shell %s", error->message,
                          entry->id);
        else if (error)
                log_error("%s", error->message);
        _exit(status);
}

static int run_beside(const Entry *entry, EnterProcess *process, GError **error) {
        g_autofree char *socket = g_strdup_printf("%s/.exec-%d", entry->root, (int) getpid());
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
                run_inside(entry, process, streams, console_socket);
        }
        if (child < 0)
                return error_negative_errno(error, errno, "Cannot fork");
        return streams_copy(streams, child, error);
}

static void add(GPtrArray *words, const char *option, const char *value) {
        if (value)
                g_ptr_array_add(words, g_strconcat(option, value, NULL));
}

/* Where [Service] has filters for processes, all of this once more, under these. False with an error. */
static bool be_restricted(const ContainerUnit *container, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) restrictions = exec_restrictions_find(container, error);
        g_autoptr(GPtrArray) call = g_ptr_array_new_with_free_func(g_free);

        if (!restrictions || restrictions->len == 0)
                return restrictions;
        g_ptr_array_add(call, g_strdup_printf("--inside=%d", (int) getpid()));
        for (char **entry = options->env; entry && *entry; entry++)
                add(call, "--env=", *entry);
        add(call, "--user=", options->user);
        add(call, "--workdir=", options->workdir);
        add(call, "--tty", options->tty ? "" : NULL);
        add(call, "exec", "");
        for (char **word = words; *word; word++)
                add(call, "", *word);
        exec_restrictions_run(restrictions, call, error);
        return false;
}

/* Is what was upon the payload at its start upon this process? It stands in the plan of health checks; of a container
 * that has none nobody knows, as a payload may have laid filters upon itself since. */
static bool check_filters(const ContainerUnit *container, const char *root, GError **error) {
        g_autofree char *path = g_build_filename(root, HEALTH_PLAN_FILE, NULL), *text = NULL;
        g_autoptr(HealthPlan) plan = NULL;
        guint filters;

        if (!g_file_get_contents(path, &text, NULL, NULL))
                return true;
        plan = health_plan_parse(text, error);
        if (!plan || !process_filters_count(&filters, error))
                return false;
        return filters >= plan->filters ||
               error_set(error, KT_ERROR_FAILED,
                         "%u of systemd's filters are upon the payload, and %u upon the command: restart %s if its "
                         "unit has been changed since it was started",
                         plan->filters, filters, container->unit);
}

/* The payload has no filter of keyturn's; others are those of be_restricted(), or its own. */
static bool is_unconfined(const ContainerUnit *container) {
        g_auto(ContainerRequest) request = { 0 };

        return launch_args_read(container->args, &request, NULL) && request.unconfined;
}

int command_exec(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *container;
        g_autofree char *root = NULL, *config = NULL, *cgroup = NULL;
        libcrun_container_t *state;
        libcrun_error_t err = NULL;

        if (!words[0] || !words[1])
                return error_negative(error, KT_ERROR_USAGE,
                                      "'exec' takes a container and a command; see keyturnctl --help");
        container = container_units_get(all, words[0], error);
        if (!container || !payload_check_running(container, error))
                return EXIT_KEYTURN;
        root = container_unit_state_dir(container);
        config = g_build_filename(root, container->args->name, "config.json", NULL);
        cgroup = find_cgroup(container);

        if (options->inside > 0)
                exec_restrictions_watch(options->inside);
        else if (!be_restricted(container, options, words, error))
                return EXIT_KEYTURN;

        if (!check_filters(container, root, error))
                return EXIT_KEYTURN;

        Entry entry = {
                .root = root,
                .id = container->args->name,
                .payload = (pid_t) container->pid,
                .cgroup = cgroup ?: container->cgroup,
                .runtime = container->args->runtime,
        };
        if ((!is_unconfined(container) && !enter_check_filter(&entry, error)) ||
            (!entry.runtime && !enter_protect(error)))
                return EXIT_KEYTURN;
        state = libcrun_container_load_from_file(config, &err);
        if (!state)
                return enter_fail(&err, error);
        if (!adapt(container, state->container_def->process, options, words + 1, error))
                return -1;
        return run_beside(&entry, state->container_def->process, error);
}
