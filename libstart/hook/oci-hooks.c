/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/string-prefix.h"
#include "libstart/cdi/cdi-file.h"
#include "libstart/config/small-file.h"
#include "libstart/hook/hook-choice.h"
#include "libstart/hook/hook-file.h"
#include "libstart/hook/hook-process.h"
#include "libstart/hook/oci-hooks.h"
#include "libstart/json/emit.h"
#include "libstart/json/walk.h"
#include "libstart/oci/spec.h"

typedef runtime_spec_schema_config_schema Spec;
typedef runtime_spec_schema_config_schema_hooks SpecHooks;
typedef runtime_spec_schema_defs_hook Hook;

#define DEPTH_MAX 32

/*
 * From a file to the spec
 */

static char **copy_strings(const GPtrArray *strings, size_t *ret_length) {
        char **copy = g_new0(char *, strings->len + 1);

        for (guint i = 0; i < strings->len; i++)
                copy[i] = g_strdup(strings->pdata[i]);
        *ret_length = strings->len;
        return copy;
}

/* What systemd tells libstart alone: a hook that says READY=1, or takes a socket, would take it from the payload. */
static bool is_systemds(const char *variable) {
        static const char *const names[] = {
                "NOTIFY_SOCKET=", "LISTEN_",     "WATCHDOG_",       "FDSTORE=",          "CREDENTIALS_DIRECTORY=",
                "MAINPID=",       "MANAGERPID=", "JOURNAL_STREAM=", "SYSTEMD_EXEC_PID=", NULL,
        };

        return string_prefix(variable, names);
}

/* Transfer full. */
static GPtrArray *own_environment(void) {
        GPtrArray *variables = g_ptr_array_new();

        for (char **variable = environ; *variable; variable++)
                if (!is_systemds(*variable))
                        g_ptr_array_add(variables, *variable);
        return variables;
}

/* Without an environment of its own a hook that the runtime runs has its caller's, and the others have none. */
static GPtrArray *find_environment(const HookFile *file, HookStage stage) {
        if (file->has_env)
                return g_ptr_array_ref(file->env);
        return stage == HOOK_PRECREATE || stage == HOOK_POSTSTOP ? g_ptr_array_new() : own_environment();
}

static Hook *make_hook(const HookFile *file, HookStage stage) {
        g_autoptr(GPtrArray) variables = find_environment(file, stage);
        Hook *hook = g_new0(Hook, 1);

        hook->path = g_strdup(file->program);
        hook->args = file->args->len > 0 ? copy_strings(file->args, &hook->args_len) : NULL;
        hook->env = copy_strings(variables, &hook->env_len);
        hook->timeout = (int) file->timeout;
        hook->timeout_present = file->timeout > 0;
        return hook;
}

static void add_hook(SpecHooks *hooks, HookStage stage, Hook *hook) {
        const struct {
                Hook ***list;
                size_t *length;
        } places[HOOK_N_STAGES] = {
                /* createRuntime's old name, for Podman, too */
                [HOOK_PRESTART] = { &hooks->create_runtime, &hooks->create_runtime_len },
                [HOOK_CREATE_RUNTIME] = { &hooks->create_runtime, &hooks->create_runtime_len },
                [HOOK_CREATE_CONTAINER] = { &hooks->create_container, &hooks->create_container_len },
                [HOOK_START_CONTAINER] = { &hooks->start_container, &hooks->start_container_len },
                [HOOK_POSTSTART] = { &hooks->poststart, &hooks->poststart_len },
                [HOOK_POSTSTOP] = { &hooks->poststop, &hooks->poststop_len },
        };
        Hook ***list = places[stage].list;

        g_return_if_fail(list);
        *list = g_renew(Hook *, *list, *places[stage].length + 1);
        (*list)[(*places[stage].length)++] = hook;
}

static void add_hooks(Spec *spec, const GPtrArray *files) {
        if (!spec->hooks)
                spec->hooks = g_new0(SpecHooks, 1);
        for (guint i = 0; i < files->len; i++) {
                const HookFile *file = files->pdata[i];

                for (HookStage stage = HOOK_PRESTART; stage < HOOK_N_STAGES; stage++)
                        if (file->stages & 1U << stage)
                                add_hook(spec->hooks, stage, make_hook(file, stage));
        }
}

static Hook *make_cdi_hook(const CdiHook *wanted, HookStage stage) {
        HookFile file = {
                .program = wanted->program,
                .args = wanted->args,
                .env = wanted->env,
                .has_env = wanted->has_env,
                .timeout = wanted->timeout,
        };

        return make_hook(&file, stage);
}

static bool add_cdi_hooks(Spec *spec, const GPtrArray *all, GError **error) {
        for (guint i = 0; all && i < all->len; i++) {
                const CdiEdits *edits = all->pdata[i];

                for (guint j = 0; j < edits->hooks->len; j++) {
                        const CdiHook *hook = edits->hooks->pdata[j];
                        HookStage stage = hook_stage_find(hook->stage);

                        if (stage == HOOK_PRECREATE || stage == HOOK_POSTSTOP || stage == HOOK_N_STAGES)
                                return error_set(error, KT_ERROR_UNSUPPORTED,
                                                 "A file of CDI has a hook for '%s', which is not run for a device",
                                                 hook->stage);
                        if (!spec->hooks)
                                spec->hooks = g_new0(SpecHooks, 1);
                        add_hook(spec->hooks, stage, make_cdi_hook(hook, stage));
                }
        }
        return true;
}

/*
 * Precreate: what comes back
 */

static size_t count_resources(const Spec *spec) {
        const runtime_spec_schema_config_linux_resources *resources = spec->linux->resources;

        return !resources ? 0 :
                            !!resources->memory + !!resources->cpu + !!resources->pids + !!resources->block_io +
                                    !!resources->network + resources->hugepage_limits_len;
}

/* Parts of the container that keyturn has made already, or does not make from the spec. */
static const char *find_foreign(const Spec *before, const Spec *after) {
        if (!after->root || g_strcmp0(after->root->path, before->root->path) != 0)
                return "root.path";
        if (!after->process || after->process->args_len == 0)
                return "process.args";
        if (!after->linux || after->linux->namespaces_len != before->linux->namespaces_len)
                return "linux.namespaces";
        if (after->linux->uid_mappings_len != before->linux->uid_mappings_len ||
            after->linux->gid_mappings_len != before->linux->gid_mappings_len)
                return "linux.uidMappings";
        if (after->linux->seccomp)
                return "linux.seccomp";
        return count_resources(after) != count_resources(before) ? "linux.resources" : NULL;
}

/* What libcrun and we take for granted. */
static void complete(Spec *spec, const Spec *before) {
        if (!spec->annotations)
                spec->annotations = g_new0(json_map_string_string, 1);
        if (!spec->process->user)
                spec->process->user = g_new0(typeof(*spec->process->user), 1);
        if (!spec->process->cwd)
                spec->process->cwd = g_strdup(before->process->cwd);
}

static Spec *parse_spec(const char *json, GError **error) {
        const struct parser_context context = { .errfile = stderr };
        parser_error message = NULL;
        Spec *spec;

        yajl_val tree = json_parse(json, strlen(json), DEPTH_MAX, error);

        if (!tree)
                return NULL;
        yajl_tree_free(tree);
        spec = runtime_spec_schema_config_schema_parse_data(json, &context, &message);
        if (!spec)
                error_set(error, KT_ERROR_FAILED, "%s", message ? g_strchomp(message) : "no JSON");
        free(message);
        return spec;
}

static bool take_spec(MountPlan *mounts, Spec **spec, const char *json, const char *program, GError **error) {
        g_autoptr(runtime_spec_schema_config_schema) after = parse_spec(json, error);
        const char *foreign = after ? find_foreign(*spec, after) : NULL;

        if (foreign)
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "it changes %s, which is not taken from a hook: of precreate hooks keyturn takes devices, "
                          "mounts, the process and hooks",
                          foreign);
        if (!after || foreign)
                return error_prefix(error, "The hook '%s' printed no configuration that can be used: ", program);
        complete(after, *spec);
        mount_plan_take(mounts, after);
        free_runtime_spec_schema_config_schema(*spec);
        *spec = g_steal_pointer(&after);
        return true;
}

static void take_environment(const Spec *spec, char ***environment) {
        char **variables = g_new0(char *, spec->process->env_len + 1);

        memcpy(variables, spec->process->env, spec->process->env_len * sizeof *variables);
        g_free(*environment);
        *environment = variables;
}

static bool run_precreate(const OciHooks *hooks, const GPtrArray *files, Spec **spec, char ***environment,
                          GError **error) {
        for (guint i = 0; i < files->len; i++) {
                const HookFile *file = files->pdata[i];
                g_autofree char *before = NULL, *after = NULL;
                Hook *hook;
                bool ok;

                if (!(file->stages & 1U << HOOK_PRECREATE))
                        continue;
                before = spec_to_json(*spec, *environment, error);
                if (!before)
                        return false;
                hook = make_hook(file, HOOK_PRECREATE);
                ok = hook_process_run(hook, hooks->bundle, before, &after, error) &&
                     take_spec(hooks->mounts, spec, after, file->program, error);
                free_runtime_spec_schema_defs_hook(hook);
                if (!ok)
                        return false;
                take_environment(*spec, environment);
        }
        return true;
}

static bool write_bundle(const OciHooks *hooks, const Spec *spec, char **environment, GError **error) {
        g_autofree char *path = g_build_filename(hooks->bundle, "config.json", NULL);
        g_autofree char *json = spec_to_json(spec, environment, error);
        _cleanup_close_ int fd = json ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;

        return json && ((fd >= 0 && fd_write_all(fd, json, strlen(json))) ||
                        error_set_errno(error, errno, "Cannot write '%s'", path));
}

/* Also of what a precreate hook has printed. */
static bool check_stages(const Spec *spec, GError **error) {
        return !spec->hooks || spec->hooks->start_container_len == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED, "The hook '%s': " HOOK_IS_IN_THE_CONTAINER,
                         spec->hooks->start_container[0]->path);
}

bool oci_hooks_apply(const OciHooks *hooks, Spec **spec, char ***environment, GError **error) {
        g_autoptr(GPtrArray) files = NULL;

        if (hooks->request->hooks->len == 0 && !hooks->cdi)
                return true;
        files = hook_choice_make(hooks->request, (*spec)->process->args[0], hooks->bundle, error);
        if (!files || !add_cdi_hooks(*spec, hooks->cdi, error) ||
            !run_precreate(hooks, files, spec, environment, error))
                return false;
        if (files->len > 0)
                add_hooks(*spec, files);
        if (!check_stages(*spec, error))
                return false;
        return !(*spec)->hooks || write_bundle(hooks, *spec, *environment, error);
}

/*
 * Poststop
 */

/* As Podman has it. Transfer full. */
static char *make_state(const Spec *spec, const char *bundle, const char *id) {
        const json_map_string_string *annotations = spec->annotations;
        yajl_gen gen = json_emit_new(false);

        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "ociVersion", spec->oci_version);
        json_emit_key_string(gen, "id", id);
        json_emit_key_string(gen, "status", "stopped");
        json_emit_key_string(gen, "bundle", bundle);
        json_emit_string(gen, "annotations");
        yajl_gen_map_open(gen);
        for (size_t i = 0; annotations && i < annotations->len; i++)
                json_emit_key_string(gen, annotations->keys[i], annotations->values[i]);
        yajl_gen_map_close(gen);
        yajl_gen_map_close(gen);
        return json_emit_finish(gen);
}

bool oci_hooks_poststop(const char *bundle, const char *id) {
        g_autofree char *path = g_build_filename(bundle, "config.json", NULL), *json = NULL, *state = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(runtime_spec_schema_config_schema) spec = NULL;
        bool ok = file_read(path, &json, NULL, &error);

        if (ok && !json)
                return true; /* it was not so far as to have hooks */
        spec = ok ? parse_spec(json, &error) : NULL;
        if (!spec) {
                log_error("The poststop hooks are not run: '%s': %s", path, error->message);
                return false;
        }
        state = make_state(spec, bundle, id);
        for (size_t i = 0; spec->hooks && i < spec->hooks->poststop_len; i++)
                if (!hook_process_run(spec->hooks->poststop[i], bundle, state, NULL, &error)) {
                        log_error("%s", error->message);
                        g_clear_error(&error);
                        ok = false;
                }
        return ok;
}
