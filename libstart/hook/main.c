/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/hook/hook-match.h"

/* keyturn-hooks: which of some files of hooks.d are for a container? libstart asks where that was not known when the
 * unit was made, see hook-match.h. Prints a line for each file, "yes" or "no". */

/* -1: it cannot be known. */
static int is_for(const char *path, const HookTarget *target) {
        g_autoptr(GError) error = NULL;
        g_autoptr(HookFile) file = hook_file_read(path, &error);

        if (file && hook_file_check_patterns(file, &error))
                return hook_file_match(file, target) == HOOK_YES;
        if (file)
                g_prefix_error(&error, "Hook '%s': ", path);
        log_error("%s", error->message);
        return -1;
}

static GPtrArray *list_of(char **words) {
        GPtrArray *list = g_ptr_array_new();

        for (; words && *words; words++)
                g_ptr_array_add(list, *words);
        return list;
}

int keyturn_hooks_main(int argc, char *argv[]) {
        g_auto(GStrv) annotations = NULL, files = NULL;
        g_autofree char *command = NULL;
        gboolean bind_mounts = FALSE;
        const GOptionEntry entries[] = {
                { "annotation", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &annotations, "One of its annotations",
                  "KEY=VALUE" },
                { "bind-mounts", 0, 0, G_OPTION_ARG_NONE, &bind_mounts, "It has some", NULL },
                { "command", 0, 0, G_OPTION_ARG_FILENAME, &command, "The first word of what it executes", "WORD" },
                { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, NULL, "FILE..." },
                { 0 },
        };
        g_autoptr(GOptionContext) context = g_option_context_new("- which OCI hooks are for a container?");
        g_autoptr(GPtrArray) list = NULL;
        g_autoptr(GError) error = NULL;
        HookTarget target;

        log_open("keyturn-hooks", LOG_TO_STDERR, LOG_INFO);
        if (program_says_version("keyturn-hooks", argc, argv))
                return EXIT_SUCCESS;
        g_option_context_add_main_entries(context, entries, NULL);
        if (!g_option_context_parse(context, &argc, &argv, &error)) {
                log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        list = list_of(annotations);
        target = (HookTarget) {
                .annotations = list,
                .command = command ?: "",
                .has_bind_mounts = bind_mounts ? HOOK_YES : HOOK_NO,
        };
        for (char **file = files; file && *file; file++) {
                int answer = is_for(*file, &target);

                if (answer < 0)
                        return EXIT_FAILURE;
                puts(answer ? "yes" : "no");
        }
        return EXIT_SUCCESS;
}
