/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/hook/hook-match.h"
#include "libstart/value/unit-words.h"

/* Podman's rules: each condition that is said must be fulfilled, of the commands one, and there must be at least one
 * condition. Podman's regular expressions are RE2's, which Perl's nearly include; "$" is the end of the text alone.
 */
#define SYNTAX (G_REGEX_RAW | G_REGEX_DOLLAR_ENDONLY)

static bool check(const char *pattern, GError **error) {
        g_autoptr(GError) problem = NULL;
        g_autoptr(GRegex) regex = g_regex_new(pattern, SYNTAX, 0, &problem);

        return regex ||
               error_set(error, KT_ERROR_FAILED, "'%s' is no regular expression: %s", pattern, problem->message);
}

bool hook_file_check_patterns(const HookFile *file, GError **error) {
        for (guint i = 0; i < file->annotations->len; i++) {
                const HookAnnotation *wanted = &g_array_index(file->annotations, HookAnnotation, i);

                if (!check(wanted->key, error) || !check(wanted->value, error))
                        return false;
        }
        for (guint i = 0; i < file->commands->len; i++)
                if (!check(file->commands->pdata[i], error))
                        return false;
        return true;
}

static HookAnswer fits(const HookTarget *target, const char *pattern, const char *text) {
        g_autoptr(GRegex) regex = NULL;

        if (target->is_unexpanded && unit_word_is_unexpanded(text))
                return HOOK_MAYBE;
        regex = g_regex_new(pattern, SYNTAX, 0, NULL);
        return regex && g_regex_match(regex, text, 0, NULL) ? HOOK_YES : HOOK_NO;
}

static HookAnswer has_annotation(const HookTarget *target, const HookAnnotation *wanted) {
        HookAnswer best = HOOK_NO;

        for (guint i = 0; i < target->annotations->len; i++) {
                const char *annotation = target->annotations->pdata[i];
                size_t length = strcspn(annotation, "=");
                g_autofree char *key = g_strndup(annotation, length);
                const char *value = annotation[length] ? annotation + length + 1 : "";
                HookAnswer answer = MIN(fits(target, wanted->key, key), fits(target, wanted->value, value));

                best = MAX(best, answer);
        }
        return best;
}

static HookAnswer has_command(const HookFile *file, const HookTarget *target) {
        HookAnswer best = HOOK_NO;

        if (!target->command)
                return HOOK_MAYBE;
        for (guint i = 0; i < file->commands->len; i++) {
                HookAnswer answer = fits(target, file->commands->pdata[i], target->command);

                best = MAX(best, answer);
        }
        return best;
}

/* As Podman reads it, "false" is never fulfilled. */
static HookAnswer is_fulfilled(HookCondition condition, HookAnswer is_so) {
        if (condition == HOOK_NOT_SAID)
                return HOOK_YES;
        return condition == HOOK_TRUE ? is_so : HOOK_NO;
}

HookAnswer hook_file_match(const HookFile *file, const HookTarget *target) {
        HookAnswer worst = MIN(is_fulfilled(file->always, HOOK_YES),
                               is_fulfilled(file->has_bind_mounts, target->has_bind_mounts));

        if (file->always == HOOK_NOT_SAID && file->has_bind_mounts == HOOK_NOT_SAID && file->annotations->len == 0 &&
            file->commands->len == 0)
                return HOOK_NO;
        for (guint i = 0; i < file->annotations->len; i++) {
                HookAnswer answer = has_annotation(target, &g_array_index(file->annotations, HookAnnotation, i));

                worst = MIN(worst, answer);
        }
        return file->commands->len > 0 ? MIN(worst, has_command(file, target)) : worst;
}
