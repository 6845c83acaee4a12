/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/config/small-file.h"
#include "libstart/hook/hook-file.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"

#define VERSION "1.0.0"
#define DEPTH_MAX 16
#define TIMEOUT_MAX 3600

static const char *const stage_names[HOOK_N_STAGES] = {
        "precreate", "prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop",
};

HookStage hook_stage_find(const char *name) {
        HookStage stage = 0;

        while (stage < HOOK_N_STAGES && !g_str_equal(stage_names[stage], name))
                stage++;
        return stage;
}

static void annotation_clear(void *data) {
        HookAnnotation *annotation = data;

        g_free(annotation->key);
        g_free(annotation->value);
}

static HookFile *hook_file_new(void) {
        HookFile *file = g_new0(HookFile, 1);

        file->args = g_ptr_array_new_with_free_func(g_free);
        file->env = g_ptr_array_new_with_free_func(g_free);
        file->commands = g_ptr_array_new_with_free_func(g_free);
        file->annotations = g_array_new(FALSE, FALSE, sizeof(HookAnnotation));
        g_array_set_clear_func(file->annotations, annotation_clear);
        return file;
}

void hook_file_free(HookFile *file) {
        g_free(file->program);
        g_ptr_array_unref(file->args);
        g_ptr_array_unref(file->env);
        g_ptr_array_unref(file->commands);
        g_array_unref(file->annotations);
        g_free(file);
}

#define WHOLE 0 /* the handler gets the HookFile, of which it sets more than one part */
#define MEMBER(field) offsetof(HookFile, field)

static bool read_version(yajl_val value, void *object, GError **error) {
        const char *version;

        if (!json_get_string(value, &version, error))
                return false;
        return g_str_equal(version, VERSION) ||
               error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is not " VERSION ", the only version that is supported",
                         version);
}

static bool read_env(yajl_val value, void *object, GError **error) {
        HookFile *file = object;

        file->has_env = true;
        return json_append_strings(value, &file->env, error);
}

static bool read_timeout(yajl_val value, void *member, GError **error) {
        return json_get_number(value, TIMEOUT_MAX, member, error);
}

static bool read_hook(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "path", json_copy_path, MEMBER(program) },
                { "args", json_append_strings, MEMBER(args) },
                { "env", read_env, WHOLE },
                { "timeout", read_timeout, MEMBER(timeout) },
                { 0 },
        };

        return json_walk_object(value, keys, object, error);
}

static bool read_condition(yajl_val value, void *member, GError **error) {
        *(HookCondition *) member = YAJL_IS_TRUE(value) ? HOOK_TRUE : HOOK_FALSE;
        return YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value) ||
               error_set(error, KT_ERROR_FAILED, "neither true nor false");
}

static bool read_annotations(yajl_val value, void *member, GError **error) {
        if (!YAJL_IS_OBJECT(value))
                return error_set(error, KT_ERROR_FAILED, "not an object");
        for (size_t i = 0; i < YAJL_GET_OBJECT(value)->len; i++) {
                const char *pattern;
                HookAnnotation annotation;

                if (!json_get_string(YAJL_GET_OBJECT(value)->values[i], &pattern, error))
                        return false;
                annotation.key = g_strdup(YAJL_GET_OBJECT(value)->keys[i]);
                annotation.value = g_strdup(pattern);
                g_array_append_val(*(GArray **) member, annotation);
        }
        return true;
}

static bool read_when(yajl_val value, void *object, GError **error) {
        static const JsonKey keys[] = {
                { "always", read_condition, MEMBER(always) },
                { "annotations", read_annotations, MEMBER(annotations) },
                { "commands", json_append_strings, MEMBER(commands) },
                { "hasBindMounts", read_condition, MEMBER(has_bind_mounts) },
                { 0 },
        };

        return json_walk_object(value, keys, object, error);
}

static bool read_stage(yajl_val value, void *member, GError **error) {
        HookStage stage;
        const char *name;

        if (!json_get_string(value, &name, error))
                return false;
        stage = hook_stage_find(name);
        if (stage == HOOK_N_STAGES)
                return error_set(error, KT_ERROR_FAILED, "'%s' is no stage", name);
        *(guint *) member |= 1U << stage;
        return true;
}

/* First of all: what an old file has would only be unknown keys. */
static bool check_version(yajl_val tree, GError **error) {
        return json_member(tree, "version", yajl_t_any) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "it has no version, and so is of 0.1.0, which is no longer supported: write it as "
                         "oci-hooks(5) says, with version " VERSION);
}

static bool check_complete(const HookFile *file, GError **error) {
        if (!file->program)
                return error_set(error, KT_ERROR_FAILED, "hook.path is missing");
        return file->stages != 0 || error_set(error, KT_ERROR_FAILED, "it names no stages");
}

HookFile *hook_file_parse(const char *text, gsize length, GError **error) {
        static const JsonKey keys[] = {
                { "version", read_version, WHOLE },
                { "hook", read_hook, WHOLE },
                { "when", read_when, WHOLE },
                { "stages", NULL, MEMBER(stages), read_stage },
                { 0 },
        };
        g_autoptr(HookFile) file = hook_file_new();
        g_auto(yajl_val) tree = json_parse(text, length, DEPTH_MAX, error);
        bool ok = tree && check_version(tree, error) && json_walk_object(tree, keys, file, error) &&
                  check_complete(file, error);

        return ok ? g_steal_pointer(&file) : NULL;
}

HookFile *hook_file_read(const char *path, GError **error) {
        g_autofree char *text = NULL;
        size_t length;

        if (!file_read(path, &text, &length, error))
                return NULL;
        if (!text)
                return error_null(error, KT_ERROR_NOT_FOUND,
                                  "Hook '%s' is gone since the unit was made; run systemctl daemon-reload", path);
        return hook_file_parse(text, length, error) ?: error_prefix_null(error, "Hook '%s': ", path);
}
