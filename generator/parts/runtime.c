/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/machine-conf.h"
#include "generator/parts/runtime.h"
#include "libstart/base/error.h"
#include "libstart/runtime-program/runtime-words.h"
#include "libstart/value/runtime-kind.h"
#include "libstart/value/unit-words.h"

#define LETTERS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._+-"

static bool is_name(const char *value) {
        return value[0] && value[0] != '.' && strspn(value, LETTERS) == strlen(value);
}

bool runtime_apply(Conversion *container, const char *value, GError **error) {
        g_autofree char *path = NULL;

        if (container->is_users)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "another runtime is for root's containers: remove it, or write the file for the "
                                 "system's manager");
        if (value[0] != '/' && !is_name(value))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is neither a name ([engine.runtimes] of containers.conf, or a program) nor an "
                                 "absolute path",
                                 value);
        if (unit_word_is_unexpanded(value))
                return error_set(error, KT_ERROR_USAGE, "'%s': a path without specifiers and variables", value);
        path = machine_conf_find_runtime(container->machine, value, error);
        return path && key_set_option(container, "runtime-program", path, error);
}

bool handle_runtime(Conversion *container, const Key *key, const Value *value, GError **error) {
        return runtime_apply(container, value->text, error);
}

/* Of what a payload is killed by, gVisor's sandbox makes an exit status; these are no failures for systemd. */
#define CLEAN_SIGNALS "129 130 141 143"

static char *delete_command(const LaunchArgs *args) {
        g_autoptr(GPtrArray) words = runtime_program_words(args->runtime, args->state_dir);
        g_autofree char *program = g_strconcat("-", args->runtime, NULL); /* whose failure is none of the service's */
        GString *command = g_string_new(NULL);

        unit_words_add(command, program);
        for (guint i = 1; i < words->len; i++)
                unit_words_add(command, words->pdata[i]);
        unit_words_add(command, "delete");
        unit_words_add(command, "--force");
        unit_words_add(command, args->name);
        return g_string_free(command, FALSE);
}

void runtime_service(Conversion *container) {
        const LaunchArgs *args = container->args;
        g_autofree char *command = args->runtime ? delete_command(args) : NULL;
        RuntimeKind kind;

        if (!command)
                return;
        kind = runtime_kind_find(args->runtime);
        service_set(container->service, "ExecStopPost", command);
        if (kind == RUNTIME_RUNSC)
                service_set(container->service, "SuccessExitStatus", CLEAN_SIGNALS);
        if ((kind == RUNTIME_RUNC || kind == RUNTIME_OTHER) && !service_user_line(container->service, "Delegate"))
                service_set(container->service, "Delegate", "yes");
}
