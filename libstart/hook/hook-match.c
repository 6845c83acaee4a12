/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/hook/hook-match.h"

/* Podman's rules: each condition that is said must be fulfilled, of the commands one, and there must be at least one
 * condition. Podman's regular expressions are RE2's, which Perl's nearly include; "$" is the end of the text alone. */

static bool fits(const char *pattern, const char *text) {
        g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW | G_REGEX_DOLLAR_ENDONLY, 0, NULL);

        return regex && g_regex_match(regex, text, 0, NULL);
}

static bool is_open(const HookTarget *target, const char *text) {
        return target->is_unexpanded && strpbrk(text, "%$");
}

static bool has_annotation(const HookTarget *target, const HookAnnotation *wanted) {
        for (guint i = 0; i < target->annotations->len; i++) {
                const char *annotation = target->annotations->pdata[i];
                size_t length = strcspn(annotation, "=");
                g_autofree char *key = g_strndup(annotation, length);
                const char *value = annotation[length] ? annotation + length + 1 : "";

                if ((is_open(target, key) || fits(wanted->key, key)) &&
                    (is_open(target, value) || fits(wanted->value, value)))
                        return true;
        }
        return false;
}

static bool has_command(const HookFile *file, const char *command) {
        for (guint i = 0; i < file->commands->len; i++)
                if (fits(file->commands->pdata[i], command))
                        return true;
        return false;
}

/* As Podman reads it, "false" is never fulfilled. */
static bool is_fulfilled(HookCondition condition, bool is_so) {
        return condition == HOOK_NOT_SAID || (condition == HOOK_TRUE && is_so);
}

bool hook_file_matches(const HookFile *file, const HookTarget *target) {
        if (!is_fulfilled(file->always, true) || !is_fulfilled(file->has_bind_mounts, target->has_bind_mounts))
                return false;
        for (guint i = 0; i < file->annotations->len; i++)
                if (!has_annotation(target, &g_array_index(file->annotations, HookAnnotation, i)))
                        return false;
        if (file->commands->len > 0)
                return !target->command || is_open(target, target->command) || has_command(file, target->command);
        return file->always != HOOK_NOT_SAID || file->has_bind_mounts != HOOK_NOT_SAID || file->annotations->len > 0;
}
