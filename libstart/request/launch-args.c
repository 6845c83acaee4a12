/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-option.h"
#include "libstart/value/flag-word.h"
#include "libstart/value/unit-words.h"

LaunchArgs *launch_args_new(void) {
        LaunchArgs *args = g_new0(LaunchArgs, 1);

        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].kind == LAUNCH_OPTION_LIST)
                        *(GPtrArray **) launch_option_field(args, &launch_options[i]) =
                                g_ptr_array_new_with_free_func(g_free);
        args->command = g_ptr_array_new_with_free_func(g_free);
        return args;
}

void launch_args_free(LaunchArgs *args) {
        if (!args)
                return;
        for (size_t i = 0; i < n_launch_options; i++) {
                if (launch_options[i].kind == LAUNCH_OPTION_LIST)
                        g_clear_pointer((GPtrArray **) launch_option_field(args, &launch_options[i]),
                                        g_ptr_array_unref);
                else if (launch_options[i].kind == LAUNCH_OPTION_STRING)
                        g_clear_pointer((char **) launch_option_field(args, &launch_options[i]), g_free);
        }
        g_ptr_array_unref(args->command);
        g_free(args->image);
        g_free(args);
}

/* As far as the value is known: where systemd has still to replace something libstart reads it, not we. */
static bool check_value(const LaunchOption *option, const char *value, GError **error) {
        g_auto(ContainerRequest) scratch = { 0 };

        if (unit_word_is_lost(value))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': $NAME is replaced only where it is all of a word: write ${NAME}", value);
        return unit_word_is_unexpanded(value) || launch_option_read(option, &scratch, value, error);
}

static bool set_value(LaunchArgs *args, const LaunchOption *option, const char *value, GError **error) {
        switch (option->kind) {
        case LAUNCH_OPTION_FLAG: {
                bool flag;

                if (!flag_word_parse(value, &flag))
                        return error_set(error, KT_ERROR_USAGE, "%s: '%s' is neither true nor false", option->name,
                                         value);
                *(LaunchFlag *) launch_option_field(args, option) = flag ? FLAG_TRUE : FLAG_FALSE;
                break;
        }
        case LAUNCH_OPTION_LIST:
                g_ptr_array_add(*(GPtrArray **) launch_option_field(args, option), g_strdup(value));
                break;
        case LAUNCH_OPTION_STRING: {
                char **string = launch_option_field(args, option);

                g_free(*string);
                *string = g_strdup(value);
                break;
        }
        }
        return true;
}

bool launch_args_set(LaunchArgs *args, const char *name, const char *value, GError **error) {
        const LaunchOption *option = launch_option_find(name, strlen(name));

        g_return_val_if_fail(option, false);
        return check_value(option, value, error) && set_value(args, option, value, error);
}

/* A command line is not believed to be right because a later word makes up for an earlier one: launch_args_read()
 * will not see the value that is about to be replaced. */
static bool check_replaced(const LaunchArgs *args, const LaunchOption *option, GError **error) {
        g_auto(ContainerRequest) scratch = { 0 };
        const char *replaced = option->kind == LAUNCH_OPTION_STRING ? *(char **) launch_option_field(args, option) :
                                                                      NULL;

        return !replaced || launch_option_read(option, &scratch, replaced, error);
}

/* The option that a word begins; *ret_value is the value that is in it, or NULL. */
static const LaunchOption *find_word(const char *word, const char **ret_value) {
        const char *equals = strchr(word, '=');
        const LaunchOption *option;

        *ret_value = NULL;
        if (word[0] != '-' || !word[1])
                return NULL;
        if (word[1] == '-') {
                *ret_value = equals ? equals + 1 : NULL;
                return launch_option_find(word + 2, equals ? (size_t) (equals - word) - 2 : strlen(word + 2));
        }
        *ret_value = word[2] ? word + 2 + (word[2] == '=') : NULL;
        option = launch_option_find_letter(word[1]);
        /* Not its value: podman takes "-dt" for two flags. */
        return option && option->kind == LAUNCH_OPTION_FLAG && *ret_value == word + 2 ? NULL : option;
}

unsigned launch_args_option_words(const char *word) {
        const char *value;
        const LaunchOption *option = find_word(word, &value);

        return !option ? 0 : value || option->kind == LAUNCH_OPTION_FLAG ? 1 : 2;
}

/* One option at words[*i], in any of podman's forms: --name value, --name=value, --flag, --flag=false, -e value,
 * -evalue. Moves *i to the last word that it took. */
static bool parse_option(LaunchArgs *args, const char *const *words, size_t *i, bool check, GError **error) {
        const char *word = words[*i], *value;
        const LaunchOption *option = find_word(word, &value);

        if (!option)
                return error_set(error, KT_ERROR_USAGE,
                                 "unknown option '%s': libstart takes a subset of podman run's options, "
                                 "listed in libstart(8)",
                                 word);
        if (!value && option->kind == LAUNCH_OPTION_FLAG)
                value = "true";
        if (!value && !(value = words[++*i]))
                return error_set(error, KT_ERROR_USAGE, "%s: a value is missing", option->name);
        return (check ? check_value(option, value, error) : check_replaced(args, option, error)) &&
               set_value(args, option, value, error);
}

bool launch_args_parse_options(LaunchArgs *args, const char *const *words, GError **error) {
        for (size_t i = 0; words[i]; i++) {
                if (words[i][0] != '-' || words[i][1] == '\0' || g_str_equal(words[i], "--"))
                        return error_set(error, KT_ERROR_USAGE, "'%s' is not an option", words[i]);
                if (!parse_option(args, words, &i, true, error))
                        return false;
        }
        return true;
}

LaunchArgs *launch_args_parse(const char *const *words, GError **error) {
        g_autoptr(LaunchArgs) args = launch_args_new();
        size_t i = 0;

        for (; words[i] && words[i][0] == '-' && words[i][1] != '\0'; i++) { /* "-": no image, libstart userns */
                if (g_str_equal(words[i], "--")) {
                        i++;
                        break;
                }
                if (!parse_option(args, words, &i, false, error))
                        return NULL;
        }
        if (!words[i])
                return error_null(error, KT_ERROR_USAGE, "the image is missing");
        args->image = g_strdup(words[i++]);
        for (; words[i]; i++)
                g_ptr_array_add(args->command, g_strdup(words[i]));
        return g_steal_pointer(&args);
}

static void add_word(GPtrArray *words, const char *word) {
        g_ptr_array_add(words, (void *) word);
}

static void add_pair(GPtrArray *words, const LaunchOption *option, const char *value) {
        add_word(words, option->name);
        add_word(words, value);
}

static void add_flag(GPtrArray *words, const LaunchOption *option, LaunchFlag flag) {
        g_autofree char *denied = flag == FLAG_FALSE ? g_strconcat(option->name, "=false", NULL) : NULL;

        if (flag != FLAG_UNSET)
                add_word(words, denied ? g_intern_string(denied) : option->name);
}

static void build_option(GPtrArray *words, const LaunchArgs *args, const LaunchOption *option) {
        switch (option->kind) {
        case LAUNCH_OPTION_FLAG:
                add_flag(words, option, *(LaunchFlag *) launch_option_field(args, option));
                break;
        case LAUNCH_OPTION_LIST: {
                GPtrArray *list = *(GPtrArray **) launch_option_field(args, option);

                for (guint i = 0; i < list->len; i++)
                        add_pair(words, option, list->pdata[i]);
                break;
        }
        case LAUNCH_OPTION_STRING: {
                const char *value = *(char **) launch_option_field(args, option);

                if (value)
                        add_pair(words, option, value);
                break;
        }
        }
}

GPtrArray *launch_args_build(const LaunchArgs *args) {
        GPtrArray *words = g_ptr_array_sized_new(64);

        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].help) /* an alias has none, and its twin has written the field */
                        build_option(words, args, &launch_options[i]);
        if (args->image) {
                if (args->image[0] == '-')
                        add_word(words, "--");
                add_word(words, args->image);
        }
        for (guint i = 0; i < args->command->len; i++)
                add_word(words, args->command->pdata[i]);
        return words;
}

void launch_args_append(const LaunchArgs *args, GString *line) {
        g_autoptr(GPtrArray) words = launch_args_build(args);

        for (guint i = 0; i < words->len - args->command->len; i++)
                unit_words_add(line, words->pdata[i]);
        unit_words_add_command(line, args->command);
}

const char *launch_args_last(const GPtrArray *values, const char *name) {
        size_t length = strlen(name);

        for (guint i = values->len; i > 0; i--) {
                const char *value = values->pdata[i - 1];

                if (g_str_has_prefix(value, name) && value[length] == '=')
                        return value + length + 1;
        }
        return NULL;
}

bool launch_args_has_users_store(const LaunchArgs *args) {
        return g_strcmp0(args->store, "user") == 0;
}

char *launch_args_help(void) {
        GString *help = g_string_new(NULL);

        for (size_t i = 0; i < n_launch_options; i++) {
                const LaunchOption *option = &launch_options[i];

                if (!option->help)
                        continue;
                g_autofree char *left = option->letter ? g_strdup_printf("-%c, %s", option->letter, option->name) :
                                                         g_strdup_printf("    %s", option->name);
                g_autofree char *full = option->metavar ? g_strdup_printf("%s %s", left, option->metavar) :
                                                          g_strdup(left);
                g_string_append_printf(help, "  %-34s %s\n", full, option->help);
        }
        return g_string_free(help, FALSE);
}
