/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/option/check-value.h"
#include "libstart/option/launch-args.h"

typedef enum Kind {
        KIND_STRING,
        KIND_LIST,
        KIND_FLAG,
} Kind;

typedef struct Option {
        const char *name; /* "--name" */
        char letter;      /* podman's one-letter form, or 0 */
        Kind kind;
        size_t offset;
        bool (*check)(const char *value, GError **error);
        const char *metavar;
        const char *help;
} Option;

#define STRING(field) KIND_STRING, offsetof(LaunchArgs, field)
#define LIST(field) KIND_LIST, offsetof(LaunchArgs, field)
#define FLAG(field) KIND_FLAG, offsetof(LaunchArgs, field)

static const Option options[] = {
        { "--name", 0, STRING(name), check_name, "NAME", "name of the container" },
        { "--hostname", 'h', STRING(hostname), check_hostname, "NAME", "host name inside" },
        { "--label", 'l', LIST(labels), NULL, "KEY=VALUE", "label of the container" },
        { "--annotation", 0, LIST(annotations), check_annotation, "KEY=VALUE", "OCI annotation" },
        { "--entrypoint", 0, STRING(entrypoint), NULL, "COMMAND", "replaces the image's entrypoint" },
        { "--user", 'u', STRING(user), check_user, "USER[:GROUP]", "name or id the payload runs as" },
        { "--group-add", 0, LIST(group_add), check_group_add, "GROUP", "one more group of the payload" },
        { "--workdir", 'w', STRING(workdir), check_absolute_path, "DIR", "working directory" },
        { "--env", 'e', LIST(env), check_env, "NAME[=VALUE]", "environment variable" },
        { "--env-file", 0, LIST(env_files), check_absolute_path, "FILE", "file of environment variables" },
        { "--env-host", 0, FLAG(env_host), NULL, NULL, "pass the caller's whole environment" },
        { "--http-proxy", 0, FLAG(http_proxy), NULL, NULL, "pass the caller's proxy variables (default)" },
        { "--tz", 0, STRING(timezone), check_timezone, "ZONE", "time zone, or local for the host's" },
        { "--rootfs", 0, FLAG(rootfs), NULL, NULL, "IMAGE is a directory, DIR[:O]" },
        { "--read-only", 0, FLAG(read_only), NULL, NULL, "root file system is read-only" },
        { "--read-only-tmpfs", 0, FLAG(read_only_tmpfs), NULL, NULL, "but /run, /tmp, /var/tmp are not (default)" },
        { "--volume", 'v', LIST(volumes), check_volume, "SRC:DST[:OPT]", "bind mount" },
        { "--mount", 0, LIST(mounts), check_mount, "type=T,KEY=VALUE", "bind mount or tmpfs" },
        { "--tmpfs", 0, LIST(tmpfs), check_tmpfs, "DST[:OPT]", "tmpfs mount" },
        { "--device", 0, LIST(devices), check_device, "SRC[:DST][:rwm]", "device node of the host" },
        { "--shm-size", 0, STRING(shm_size), check_size, "SIZE", "size of /dev/shm (default 64m)" },
        { "--storage-opt", 0, LIST(storage_opt), check_storage_opt, "size=|inodes=", "limit of what is written" },
        { "--network", 0, STRING(network), check_network, "host|none", "network namespace" },
        { "--net", 0, STRING(network), check_network, NULL, NULL },
        { "--add-host", 0, LIST(add_hosts), check_add_host, "NAME:ADDRESS", "entry of /etc/hosts" },
        { "--cap-add", 0, LIST(cap_add), check_capability, "CAP", "capability to add, or all" },
        { "--cap-drop", 0, LIST(cap_drop), check_capability, "CAP", "capability to drop, or all" },
        { "--security-opt", 0, LIST(security_opt), check_security_opt, "OPT",
          "no-new-privileges, seccomp=, mask=, unmask=" },
        { "--ulimit", 0, LIST(ulimits), check_ulimit, "NAME=SOFT[:HARD]", "resource limit" },
        { "--sysctl", 0, LIST(sysctls), check_sysctl, "NAME=VALUE", "namespaced kernel parameter" },
        { "--log-driver", 0, STRING(log_driver), check_log_driver, "DRIVER", "journald, passthrough or none" },
        { "--log-opt", 0, LIST(log_opt), check_log_opt, "tag=NAME", "identifier in the journal" },
        { "--sdnotify", 0, STRING(sdnotify), check_sdnotify, "MODE", "who says READY=1: conmon, container, ignore" },
        { "--stop-signal", 0, STRING(stop_signal), check_signal, "SIGNAL", "signal that stops the payload" },
        { "--detach", 'd', FLAG(detach), NULL, NULL, "hand the payload over to systemd and exit" },
        { "--env-list", 0, STRING(env_list), check_absolute_path, "FILE",
          "variables that keyturn-generator wrote apart" },
        { "--untrusted-list", 0, STRING(untrusted_list), check_absolute_path, "FILE",
          "directories that payloads write to" },
        { "--state-dir", 0, STRING(state_dir), check_absolute_path, "DIR", "the container's directory on /run" },
        { "--timing", 0, FLAG(timing), NULL, NULL, "say where the time of the start went" },
        { "--print-spec", 0, FLAG(print_spec), NULL, NULL, "print the OCI config.json, start nothing" },
};

static void *field(const LaunchArgs *args, const Option *option) {
        return (char *) args + option->offset;
}

LaunchArgs *launch_args_new(void) {
        LaunchArgs *args = g_new0(LaunchArgs, 1);

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (options[i].kind == KIND_LIST)
                        *(GPtrArray **) field(args, &options[i]) = g_ptr_array_new_with_free_func(g_free);
        args->command = g_ptr_array_new_with_free_func(g_free);
        return args;
}

void launch_args_free(LaunchArgs *args) {
        if (!args)
                return;
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
                if (options[i].kind == KIND_LIST)
                        g_clear_pointer((GPtrArray **) field(args, &options[i]), g_ptr_array_unref);
                else if (options[i].kind == KIND_STRING)
                        g_clear_pointer((char **) field(args, &options[i]), g_free);
        }
        g_ptr_array_unref(args->command);
        g_free(args->image);
        g_free(args);
}

static const Option *find_option(const char *name, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (options[i].name[2] == name[0] && strncmp(options[i].name + 2, name, length) == 0 &&
                    options[i].name[2 + length] == '\0')
                        return &options[i];
        return NULL;
}

static const Option *find_letter(char letter) {
        for (size_t i = 0; letter && i < G_N_ELEMENTS(options); i++)
                if (options[i].letter == letter)
                        return &options[i];
        return NULL;
}

static bool parse_flag(const char *value, LaunchFlag *ret) {
        static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True", NULL };
        static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False", NULL };

        if (g_strv_contains(yes, value))
                *ret = FLAG_TRUE;
        else if (g_strv_contains(no, value))
                *ret = FLAG_FALSE;
        else
                return false;
        return true;
}

static bool set_value(LaunchArgs *args, const Option *option, const char *value, GError **error) {
        if (option->check && !option->check(value, error)) {
                g_prefix_error(error, "%s: ", option->name);
                return false;
        }
        switch (option->kind) {
        case KIND_FLAG:
                if (!parse_flag(value, field(args, option)))
                        return error_set(error, KT_ERROR_USAGE, "%s: '%s' is neither true nor false", option->name,
                                         value);
                break;
        case KIND_LIST:
                g_ptr_array_add(*(GPtrArray **) field(args, option), g_strdup(value));
                break;
        case KIND_STRING: {
                char **string = field(args, option);

                g_free(*string);
                *string = g_strdup(value);
                break;
        }
        }
        return true;
}

static bool is_unexpanded(const char *value) {
        return strpbrk(value, "%$");
}

static bool set_unchecked(LaunchArgs *args, const Option *option, const char *value, GError **error) {
        Option unchecked = *option;

        unchecked.check = NULL;
        return set_value(args, &unchecked, value, error);
}

bool launch_args_set(LaunchArgs *args, const char *name, const char *value, GError **error) {
        const Option *option = find_option(name, strlen(name));

        g_return_val_if_fail(option, false);
        return is_unexpanded(value) ? set_unchecked(args, option, value, error) :
                                      set_value(args, option, value, error);
}

/* One option at words[*i], in any of podman's forms: --name value, --name=value, --flag, --flag=false, -e value,
 * -evalue. Moves *i to the last word that it took. */
static bool parse_option(LaunchArgs *args, const char *const *words, size_t *i, bool unexpanded, GError **error) {
        const char *word = words[*i], *value = NULL;
        const Option *option;

        if (word[1] == '-') {
                const char *equals = strchr(word, '=');

                option = find_option(word + 2, equals ? (size_t) (equals - word) - 2 : strlen(word + 2));
                value = equals ? equals + 1 : NULL;
        } else {
                option = find_letter(word[1]);
                value = word[1] && word[2] ? word + 2 + (word[2] == '=') : NULL;
        }
        if (!option)
                return error_set(error, KT_ERROR_USAGE,
                                 "unknown option '%s': libstart takes a subset of podman run's options, "
                                 "listed in libstart(8)",
                                 word);
        if (!value && option->kind == KIND_FLAG)
                value = "true";
        if (!value && !(value = words[++*i]))
                return error_set(error, KT_ERROR_USAGE, "%s: a value is missing", option->name);
        return unexpanded && is_unexpanded(value) ? set_unchecked(args, option, value, error) :
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

static LaunchArgs *parse(const char *const *words, bool unexpanded, GError **error) {
        g_autoptr(LaunchArgs) args = launch_args_new();
        size_t i = 0;

        for (; words[i] && words[i][0] == '-'; i++) {
                if (g_str_equal(words[i], "--")) {
                        i++;
                        break;
                }
                if (!parse_option(args, words, &i, unexpanded, error))
                        return NULL;
        }
        if (!words[i]) {
                error_set(error, KT_ERROR_USAGE, "the image is missing");
                return NULL;
        }
        args->image = g_strdup(words[i++]);
        for (; words[i]; i++)
                g_ptr_array_add(args->command, g_strdup(words[i]));
        return g_steal_pointer(&args);
}

LaunchArgs *launch_args_parse(const char *const *words, GError **error) {
        return parse(words, false, error);
}

LaunchArgs *launch_args_parse_unexpanded(const char *const *words, GError **error) {
        return parse(words, true, error);
}

static void add_word(GPtrArray *words, const char *word) {
        g_ptr_array_add(words, (void *) word);
}

static void add_pair(GPtrArray *words, const Option *option, const char *value) {
        add_word(words, option->name);
        add_word(words, value);
}

static void add_flag(GPtrArray *words, const Option *option, LaunchFlag flag) {
        g_autofree char *denied = flag == FLAG_FALSE ? g_strconcat(option->name, "=false", NULL) : NULL;

        if (flag != FLAG_UNSET)
                add_word(words, denied ? g_intern_string(denied) : option->name);
}

static void build_option(GPtrArray *words, const LaunchArgs *args, const Option *option) {
        switch (option->kind) {
        case KIND_FLAG:
                add_flag(words, option, *(LaunchFlag *) field(args, option));
                break;
        case KIND_LIST: {
                GPtrArray *list = *(GPtrArray **) field(args, option);

                for (guint i = 0; i < list->len; i++)
                        add_pair(words, option, list->pdata[i]);
                break;
        }
        case KIND_STRING: {
                const char *value = *(char **) field(args, option);

                if (value)
                        add_pair(words, option, value);
                break;
        }
        }
}

GPtrArray *launch_args_build(const LaunchArgs *args) {
        GPtrArray *words = g_ptr_array_sized_new(64);

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
                if (options[i].help) /* an alias has none, and its twin has written the field */
                        build_option(words, args, &options[i]);
        if (args->image) {
                if (args->image[0] == '-')
                        add_word(words, "--");
                add_word(words, args->image);
        }
        for (guint i = 0; i < args->command->len; i++)
                add_word(words, args->command->pdata[i]);
        return words;
}

char *launch_args_help(void) {
        GString *help = g_string_new(NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
                const Option *option = &options[i];

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
