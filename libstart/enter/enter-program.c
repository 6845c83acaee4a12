/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/enter/enter-program.h"
#include "libstart/enter/payload-place.h"
#include "libstart/runtime-program/runtime-call.h"
#include "libstart/runtime-program/runtime-words.h"
#include "libstart/value/runtime-kind.h"

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(yajl_gen, yajl_gen_free, NULL)

/* In memory, so that nothing is left of it; the runtime has it open only until it executes the command. */
static int write_process(const EnterProcess *process, GError **error) {
        const struct parser_context context = { .options = OPT_GEN_SIMPLIFY | OPT_GEN_NO_VALIDATE_UTF8 };
        _cleanup_close_ int fd = memfd_create("process.json", 0);
        g_auto(yajl_gen) generator = yajl_gen_alloc(NULL);
        parser_error message = NULL;
        const unsigned char *text;
        size_t length;

        if (gen_runtime_spec_schema_config_schema_process(generator, process, &context, &message) !=
                    yajl_gen_status_ok ||
            yajl_gen_get_buf(generator, &text, &length) != yajl_gen_status_ok) {
                error_set(error, KT_ERROR_FAILED, "The command cannot be written as JSON: %s",
                          message ? g_strchomp(message) : "unknown reason");
                free(message);
                return -1;
        }
        if (fd < 0 || !fd_write_all(fd, (const char *) text, length) || lseek(fd, 0, SEEK_SET) < 0)
                return error_negative_errno(error, errno, "Cannot write the command for the runtime");
        return fd_steal(&fd);
}

/* A terminal from outside: runc takes none for a command that it waits for, and gVisor's would be the caller's. */
static bool check_terminal(const Entry *entry, const GPtrArray *words, GError **error) {
        g_autofree char *line = NULL;

        if (runtime_kind_find(entry->runtime) == RUNTIME_CRUN)
                return true;
        line = g_strdup_printf("%s %s %s", (char *) words->pdata[0], (char *) words->pdata[1],
                               (char *) words->pdata[2]);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' gets no terminal from keyturn: leave out -t, or call it: %s exec -t %s COMMAND",
                         entry->runtime, line, entry->id);
}

/* runc puts a command where the payload is. Below that is where it can be killed with all that it starts. NULL: it is
 * not to be there. Transfer full. */
static char *find_subgroup(const Entry *entry) {
        bool is_runc = runtime_kind_find(entry->runtime) == RUNTIME_RUNC;
        g_autofree char *payloads = is_runc ? process_find_cgroup(entry->payload) : NULL;
        const char *rest = payloads && g_str_has_prefix(entry->cgroup, payloads) ? entry->cgroup + strlen(payloads) :
                                                                                   "";

        return rest[0] == '/' ? g_strdup(rest + 1) : NULL;
}

/* crun enters the payload's user namespace, too, and gVisor its sandbox. runc would enter the mount namespace alone,
 * and be root of the container, or the host's: it would execute whatever program the payload has mounted there. */
static bool check_place(const Entry *entry, GError **error) {
        RuntimeKind kind = runtime_kind_find(entry->runtime);
        g_autofree char *path = g_build_filename(entry->root, entry->id, "config.json", NULL);
        libcrun_container_t *config;
        libcrun_error_t err = NULL;
        bool kept;

        if (kind == RUNTIME_CRUN || kind == RUNTIME_RUNSC)
                return true;
        config = libcrun_container_load_from_file(path, &err);
        if (!config) {
                (void) enter_fail(&err, error);
                return false;
        }
        kept = payload_place_is_kept(entry->payload, config);
        libcrun_container_free(config);
        return kept || error_set(error, KT_ERROR_UNSUPPORTED,
                                 "The payload has made a user namespace, in which it mounts what it likes: no "
                                 "command of '%s' is safe beside it",
                                 entry->runtime);
}

static void add_option(GPtrArray *words, const char *option, const char *value) {
        if (!value)
                return;
        g_ptr_array_add(words, g_strdup(option));
        g_ptr_array_add(words, g_strdup(value));
}

static int run_program(const Entry *entry, EnterProcess *process, const char *console_socket, GError **error) {
        g_autoptr(GPtrArray) words = runtime_program_words(entry->runtime, entry->root);
        g_autofree char *subgroup = find_subgroup(entry), *file = NULL;
        int fd;

        if (!check_place(entry, error) || (console_socket && !check_terminal(entry, words, error)))
                return EXIT_KEYTURN;
        if (runtime_kind_find(entry->runtime) != RUNTIME_RUNSC) /* those of the sandbox are not the payload's */
                enter_keep_restrictions(entry, process);
        fd = write_process(process, error);
        if (fd < 0)
                return EXIT_KEYTURN;
        file = g_strdup_printf("/proc/self/fd/%d", fd);
        g_ptr_array_add(words, g_strdup("exec"));
        add_option(words, "--process", file);
        add_option(words, "--cgroup", subgroup);
        add_option(words, "--console-socket", console_socket);
        g_ptr_array_add(words, g_strdup(entry->id));
        g_ptr_array_add(words, NULL);
        runtime_program_execute(words);
        error_set_errno(error, errno, "Cannot execute '%s'", entry->runtime);
        return EXIT_KEYTURN;
}

int enter_command(const Entry *entry, EnterProcess *process, const char *console_socket, GError **error) {
        return (entry->runtime ? run_program : enter_run)(entry, process, console_socket, error);
}
