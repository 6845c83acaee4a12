/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/hook/hook-choice.h"
#include "libstart/hook/hook-file.h"
#include "libstart/hook/hook-process.h"
#include "libstart/request/hook-word.h"
#include "libstart/request/mount-request.h"

#define PROGRAM KEYTURN_LIBDIR "/keyturn-hooks"

/* Podman counts what Volume= and Mount= ask for. */
static bool has_bind_mounts(const ContainerRequest *request) {
        for (guint i = 0; i < request->mounts->len; i++)
                if (((const MountRequest *) request->mounts->pdata[i])->type != MOUNT_TMPFS)
                        return true;
        return false;
}

static const char *doubtful(const char *word) {
        return g_str_has_prefix(word, HOOK_WORD_MAYBE) ? word + strlen(HOOK_WORD_MAYBE) : NULL;
}

/* The words of the question. Transfer full; NULL if there is nothing to ask. */
static GPtrArray *make_question(const ContainerRequest *request, const char *command) {
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
        guint files = 0;

        g_ptr_array_add(words, g_strdup(PROGRAM));
        g_ptr_array_add(words, g_strconcat("--command=", command, NULL));
        if (has_bind_mounts(request))
                g_ptr_array_add(words, g_strdup("--bind-mounts"));
        for (guint i = 0; i < request->annotations->len; i++)
                g_ptr_array_add(words, g_strconcat("--annotation=", request->annotations->pdata[i], NULL));
        for (guint i = 0; i < request->hooks->len; i++) {
                const char *path = doubtful(request->hooks->pdata[i]);

                if (path) {
                        g_ptr_array_add(words, g_strdup(path));
                        files++;
                }
        }
        if (files == 0)
                g_clear_pointer(&words, g_ptr_array_unref);
        return words;
}

/* *ret: its lines; transfer full. NULL if there is nothing to ask. */
static bool ask(const ContainerRequest *request, const char *command, const char *directory, char **ret,
                GError **error) {
        g_autoptr(GPtrArray) words = make_question(request, command);
        runtime_spec_schema_defs_hook program = { .path = (char *) PROGRAM };

        *ret = NULL;
        if (!words)
                return true;
        program.args_len = words->len;
        g_ptr_array_add(words, NULL);
        program.args = (char **) words->pdata;
        if (hook_process_run(&program, directory, "", ret, error))
                return true;
        return error_prefix(error, "Which OCI hooks are for the container cannot be known: ");
}

/* Takes the next line of the answer. */
static bool next_is_yes(const char **answer) {
        bool yes = g_str_has_prefix(*answer, "yes\n");
        const char *end = strchr(*answer, '\n');

        *answer = end ? end + 1 : "";
        return yes;
}

GPtrArray *hook_choice_make(const ContainerRequest *request, const char *command, const char *directory,
                            GError **error) {
        g_autoptr(GPtrArray) chosen = g_ptr_array_new_with_free_func((GDestroyNotify) hook_file_free);
        g_autofree char *answer = NULL;
        const char *rest;

        if (!ask(request, command, directory, &answer, error))
                return NULL;
        rest = answer;
        for (guint i = 0; i < request->hooks->len; i++) {
                const char *word = request->hooks->pdata[i], *path = doubtful(word);
                HookFile *file;

                if (path && !next_is_yes(&rest))
                        continue;
                file = hook_file_read(path ?: word, error);
                if (!file)
                        return NULL;
                g_ptr_array_add(chosen, file);
        }
        return g_steal_pointer(&chosen);
}
