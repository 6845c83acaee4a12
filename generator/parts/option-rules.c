/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/option-rules.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/keys.h"
#include "libstart/request/launch-request.h"
#include "libstart/value/user-spec.h"

static bool sets(const Key *key, const char *option) {
        static const struct {
                const char *option, *key;
        } others[] = {
                { "device", "AddDevice" },
                { "log-driver", "LogDriver" },
                { "log-opt", "LogOpt" },
                { "mount", "Mount" },
                { "mount", "Volume" }, /* of a .volume file with Driver=image */
                { "network", "Network" },
                { "sdnotify", "Notify" },
                { "security-opt", "SecurityLabelFileType" },
                { "security-opt", "SecurityLabelLevel" },
                { "security-opt", "SecurityLabelType" },
                { "tmpfs", "VolatileTmp" },
                { "user", "Group" },
                { "user", "User" },
                { "userns", "RemapUsers" },
                { "userns", "UserNS" }, /* of a pod */
                { "volume", "Volume" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (g_str_equal(others[i].option, option) && g_str_equal(others[i].key, key->name))
                        return true;
        return key->handle == handle_option && g_str_equal(key->text, option);
}

const UnitLine *option_rules_find_podman_line(const Conversion *container, const char *option) {
        for (guint i = 0; i < container->podman.args->len; i++) {
                const Noted *word = &g_array_index(container->podman.args, Noted, i);

                if (g_str_has_prefix(word->text, "--") && g_str_has_prefix(word->text + 2, option) &&
                    strchr("=", word->text[2 + strlen(option)]))
                        return word->line;
        }
        return NULL;
}

/* The line of one value, if it is given. NULL: the file does not say it; its pod does, or a default. */
static const UnitLine *find_line(const Conversion *container, const char *option, const char *value) {
        if (g_str_equal(option, "store"))
                return conversion_line(container, "Keyturn", "Store");
        if (g_str_equal(option, "runtime-program"))
                return conversion_line(container, "Keyturn", "Runtime") ?:
                               option_rules_find_podman_line(container, "runtime");
        for (size_t i = 0; i < container->keys->n_keys; i++) {
                const Key *key = &container->keys->keys[i];
                const char *text = value && key->read != READ_BOOLEAN ? value : "";
                const UnitLine *line = sets(key, option) ?
                                               conversion_line_with(container, container->section, key->name, text) :
                                               NULL;

                if (line && line->value[0])
                        return line;
        }
        return g_str_equal(option, "owner")        ? service_user_line(container->service, "User") :
               g_str_equal(option, "dynamic-user") ? service_user_line(container->service, "DynamicUser") :
                                                     option_rules_find_podman_line(container, option);
}

/* Of a mount the file may name the source otherwise: data.volume. What comes behind it is the same. */
static const UnitLine *find_value_line(const Conversion *container, const char *option, const char *value) {
        const UnitSection *section = unit_file_section(container->source->unit, container->section);
        const UnitLine *line = find_line(container, option, value);
        const char *rest = !value                        ? NULL :
                           g_str_equal(option, "volume") ? strchr(value, ':') :
                           g_str_equal(option, "mount")  ? strrchr(value, ',') :
                                                           NULL;

        if (!line && rest && g_str_equal(option, "volume"))
                line = unit_section_last_ending(section, "Volume", rest);
        return line || !rest ? line : unit_section_last_ending(section, "Mount", rest);
}

static bool is_refused(const Conversion *container, const UnitLine *line) {
        for (guint i = 0; i < container->findings->len; i++) {
                const Finding *finding = container->findings->pdata[i];

                if (finding->kind == FINDING_PROBLEM && finding->line == line)
                        return true;
        }
        return false;
}

/* Whoever reads it knows the key, if that is the option's. */
static void refuse(Conversion *container, const LaunchConflict *conflict, const char *message) {
        const UnitLine *own = find_value_line(container, conflict->option, conflict->value), *line = own;
        g_autofree char *prefix = g_strdup_printf("--%s: ", conflict->option);

        if (!line && conflict->other)
                line = find_line(container, conflict->other, NULL);
        if (!line)
                line = conversion_line(container, container->section, "Pod");
        if (own && !g_str_equal(own->key, "PodmanArgs") && g_str_has_prefix(message, prefix))
                message += strlen(prefix);
        if (!is_refused(container, line))
                conversion_problem(container, line, "%s", message);
}

static bool asks_for_label(const LaunchArgs *args) {
        for (guint i = 0; i < args->security_opt->len; i++)
                if (g_str_has_prefix(args->security_opt->pdata[i], "label=") &&
                    strchr(args->security_opt->pdata[i], ':'))
                        return true;
        return false;
}

/* To Podman it means all of that, whatever else a file says. Here no container has more than its file says. */
static void warn_of_privileged(Conversion *container) {
        const LaunchArgs *args = container->args;

        conversion_warning(
                container, find_line(container, "privileged", NULL),
                user_namespace_may_be_own(args) ?
                        "--privileged: all capabilities, and nothing masked; in a user namespace no device is "
                        "given but those of AddDevice=" :
                        "--privileged: nothing protects the host from this container, which has all "
                        "capabilities and devices, and nothing masked");
        if (args->cap_drop->len > 0)
                conversion_warning(container, find_line(container, "cap-drop", NULL),
                                   "the capability is dropped, where Podman drops none with --privileged");
        if (asks_for_label(args))
                conversion_warning(container, find_line(container, "security-opt", NULL),
                                   "the SELinux label is set, where Podman sets none with --privileged");
}

static void warn(Conversion *container) {
        const LaunchArgs *args = container->args;

        if (container->is_users) /* who has none of these */
                return;
        if (args->privileged == FLAG_TRUE)
                warn_of_privileged(container);
        if (args->runtime &&
            g_ptr_array_find_with_equal_func(args->group_add, USER_SPEC_KEEP_GROUPS, g_str_equal, NULL))
                conversion_warning(container, find_line(container, "group-add", NULL),
                                   "the runtime is asked to keep the groups that systemd gives: crun does, and what "
                                   "calls it; runc leaves them out");
        if (g_strcmp0(args->pid, "host") == 0)
                conversion_warning(
                        container, find_line(container, "pid", NULL),
                        "--pid=host: the payload sees all processes of the machine, and if it is root it can "
                        "become as much as the machine's root; give it User=, or trust it with the machine");
}

void option_rules_check(Conversion *container) {
        g_autoptr(GError) error = NULL;
        LaunchConflict conflict;

        if (launch_args_check(container->args, container->is_users, &conflict, &error))
                warn(container);
        else
                refuse(container, &conflict, error->message);
}

const UnitLine *option_rules_find_line(const Conversion *container, const char *option) {
        return find_line(container, option, NULL);
}
