/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/json/walk.h"
#include "libstart/request/health-command.h"

#define DEPTH_MAX 64
/* Between the words behind CMD. */
#define BLANKS " \t\n\v\f\r"

static bool is_first_word(const char *text, const char *word) {
        size_t length = strlen(word);

        return g_ascii_strncasecmp(text, word, length) == 0 && (!text[length] || text[length] == ' ');
}

bool health_command_is_none(const char *text) {
        return is_first_word(text, "none");
}

char **health_command_for_shell(char *const *words) {
        g_autofree char *text = g_strjoinv(" ", (char **) words);
        const char *const command[] = { "/bin/sh", "-c", text, NULL };

        return g_strdupv((char **) command);
}

/* NULL: it is none, but text for the shell, as in "[ -e /run/ready ]". */
static char **parse_array(const char *text) {
        g_auto(yajl_val) tree = text[0] == '[' ? json_parse(text, strlen(text), DEPTH_MAX, NULL) : NULL;
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!tree || !YAJL_IS_ARRAY(tree) || !json_append_strings(tree, &words, NULL))
                return NULL;
        g_ptr_array_add(words, NULL);
        return (char **) g_ptr_array_steal(words, NULL);
}

static bool take_array(char **array, const char *text, char ***ret, GError **error) {
        bool is_for_shell = g_strcmp0(array[0], "CMD-SHELL") == 0;

        if (!array[0] || !array[0][0] || (is_for_shell && !array[1]))
                return error_set(error, KT_ERROR_USAGE, "'%s': the array names no command", text);
        if (g_ascii_strcasecmp(array[0], "CMD") == 0 || health_command_is_none(array[0]))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': podman would run a program of that whole name; leave \"%s\" out of the array",
                                 text, array[0]);
        if (is_for_shell)
                *ret = health_command_for_shell(array + 1);
        else
                *ret = array[1] ? g_strdupv(array) : health_command_for_shell(array);
        return true;
}

static bool check_prefix(const char *text, GError **error) {
        static const char *const words[] = { "CMD", "CMD-SHELL" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                size_t length = strlen(words[i]);

                if (!is_first_word(text, words[i]))
                        continue;
                if (strncmp(text, words[i], length) != 0)
                        return error_set(error, KT_ERROR_USAGE, "'%.*s' would be a program of that name: write %s",
                                         (int) length, text, words[i]);
                if (strspn(text + length, BLANKS) == strlen(text + length))
                        return error_set(error, KT_ERROR_USAGE, "the command behind %s is missing", words[i]);
        }
        return true;
}

static char **split_blanks(const char *text) {
        g_auto(GStrv) parts = g_strsplit_set(text, BLANKS, -1);
        g_autoptr(GStrvBuilder) words = g_strv_builder_new();

        for (char **part = parts; *part; part++)
                if (**part)
                        g_strv_builder_add(words, *part);
        return g_strv_builder_end(words);
}

bool health_command_parse(const char *text, char ***ret, GError **error) {
        g_auto(GStrv) array = parse_array(text);

        *ret = NULL;
        if (array)
                return take_array(array, text, ret, error);
        if (!check_prefix(text, error))
                return false;
        if (health_command_is_none(text))
                return true;
        if (g_str_has_prefix(text, "CMD "))
                *ret = split_blanks(text + strlen("CMD "));
        else {
                const char *shell = g_str_has_prefix(text, "CMD-SHELL ") ? text + strlen("CMD-SHELL ") : text;

                *ret = health_command_for_shell((char *const[]) { (char *) shell, NULL });
        }
        return true;
}
