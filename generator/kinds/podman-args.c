/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/podman-args.h"
#include "generator/network/network.h"
#include "generator/parts/cgroup-conf.h"
#include "generator/parts/cgroup-limits.h"
#include "generator/parts/devices.h"
#include "generator/parts/runtime.h"
#include "generator/unit/keys.h"
#include "libstart/base/error.h"
#include "libstart/request/launch-option.h"

/*
 * Options that become settings of [Service]
 */

/* systemd counts hundredths of a percent. */
static char *convert_cpus(const char *value, GError **error) {
        char *end;
        double cpus = g_ascii_strtod(value, &end);

        if (end == value || *end || !(cpus >= 0.0001) || cpus > 10000)
                return error_null(error, KT_ERROR_USAGE, "'%s' is no number of processors", value);
        return g_strdup_printf("%.2f%%", cpus * 100);
}

/* As systemd itself does for CPUShares=: of both, the usual value is the same. 0 is podman's for that. */
static char *convert_shares(const char *value, GError **error) {
        guint64 shares;

        if (!g_ascii_string_to_unsigned(value, 10, 0, 262144, &shares, NULL))
                return error_null(error, KT_ERROR_USAGE, "'%s' is no number from 2 to 262144 (1024 is the usual one)",
                                  value);
        return g_strdup_printf("%" G_GUINT64_FORMAT, shares == 0 ? 100 : CLAMP(shares * 100 / 1024, 1, 10000));
}

static char *convert_numbers(const char *value, GError **error) {
        if (value[0] && strspn(value, "0123456789,-") == strlen(value))
                return g_strdup(value);
        return error_null(error, KT_ERROR_USAGE, "'%s' is no list of numbers, as in 0-2,7", value);
}

static char *convert_adjustment(const char *value, GError **error) {
        gint64 n;

        if (g_ascii_string_to_signed(value, 10, -1000, 1000, &n, NULL))
                return g_strdup(value);
        return error_null(error, KT_ERROR_USAGE, "'%s' is no number from -1000 to 1000", value);
}

/* Many who write it, often as -it, want colours, or lines that come at once. */
static bool apply_tty(Conversion *container, const char *value, GError **error) {
        return launch_args_last(container->args->env, "TERM") ||
               key_set_option(container, "env", "TERM=xterm", error);
}

/* As Podman, which knows Nvidia's only. */
static bool apply_gpus(Conversion *container, const char *value, GError **error) {
        g_auto(GStrv) gpus = g_strsplit(value, ",", -1);

        for (char **gpu = gpus; *gpu; gpu++) {
                g_autofree char *device = g_strconcat("nvidia.com/gpu=", *gpu, NULL);

                if (!keys_apply_value(container, "AddDevice", device,
                                      conversion_line_with(container, container->section, "PodmanArgs", *gpu), error))
                        return false;
        }
        return true;
}

static bool apply_cgroupns(Conversion *container, const char *value, GError **error) {
        return g_str_equal(value, "host") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is not supported: the payload has a cgroup namespace of its own; remove the option",
                         value);
}

/*
 * The table
 */

#define IN_SERVICE(name) ADVICE("write " name " in [Service]")
#define NO_PULL ADVICE("keyturn never pulls an image; remove the option")
#define NO_TERMINAL                                                                                        \
        FINE_OR("false", "a service has no terminal to attach; see StandardInput= and StandardOutput= in " \
                         "systemd.exec(5)")
#define CGROUP_V1 ADVICE("the kernel has it with cgroups of version 1 only; remove the option")
#define AS_IMAGE ADVICE("the image that is stored under the name is used; name the one that is meant, by its digest")

/* Those of `podman run` 5.4 and of `podman` itself that libstart does not have (launch-option.c), or has with another
 * meaning. */
static const PodmanOption options[] = {
        { "annotation", 0, VALUE, KEY("Annotation") },
        { "arch", 0, VALUE, AS_IMAGE },
        { "attach", 'a', LIST, NO_TERMINAL },
        { "authfile", 0, VALUE, NO_PULL },
        { "blkio-weight", 0, VALUE, IN_SERVICE("IOWeight=") },
        { "blkio-weight-device", 0, LIST, IN_SERVICE("IODeviceWeight=") },
        { "cgroup-conf", 0, VALUE, APPLY(cgroup_conf_apply) },
        { "cgroup-manager", 0, VALUE, GLOBAL, FINE("*") },
        { "cgroup-parent", 0, VALUE, IN_SERVICE("Slice=") },
        { "cgroupns", 0, VALUE, FINE("private"), APPLY(apply_cgroupns),
          .warning = "the payload has a cgroup namespace of its own, in which its cgroup is the root" },
        { "cgroups", 0, VALUE, KEY("CgroupsMode") },
        { "chrootdirs", 0, VALUE, ADVICE("name the directories in Volume=") },
        { "config", 0, VALUE, GLOBAL, NO_COMMAND },
        { "connection", 'c', VALUE, GLOBAL, NO_COMMAND },
        { "conmon", 0, VALUE, GLOBAL, ADVICE("there is no conmon; remove the option") },
        { "conmon-pidfile", 0, VALUE,
          ADVICE("there is no conmon; systemctl show -P MainPID tells the payload's "
                 "number") },
        { "cpu-period", 0, VALUE, IN_SERVICE("CPUQuota= and CPUQuotaPeriodSec=") },
        { "cpu-quota", 0, VALUE, IN_SERVICE("CPUQuota= and CPUQuotaPeriodSec=") },
        { "cpu-rt-period", 0, VALUE, CGROUP_V1 },
        { "cpu-rt-runtime", 0, VALUE, CGROUP_V1 },
        { "cpu-shares", 'c', VALUE, SETTING("CPUWeight", convert_shares) },
        { "cpus", 0, VALUE, SETTING("CPUQuota", convert_cpus) },
        { "cpuset-cpus", 0, VALUE, SETTING("AllowedCPUs", convert_numbers) },
        { "cpuset-mems", 0, VALUE, SETTING("AllowedMemoryNodes", convert_numbers) },
        { "decryption-key", 0, VALUE, NO_PULL },
        { "detach-keys", 0, VALUE, FINE("*") },
        { "device-read-bps", 0, VALUE, IN_SERVICE("IOReadBandwidthMax=") },
        { "device-read-iops", 0, VALUE, IN_SERVICE("IOReadIOPSMax=") },
        { "device-write-bps", 0, VALUE, IN_SERVICE("IOWriteBandwidthMax=") },
        { "device-write-iops", 0, VALUE, IN_SERVICE("IOWriteIOPSMax=") },
        { "disable-content-trust", 0, FLAG, FINE("*") },
        { "env-merge", 0, VALUE, ADVICE("write the whole value in Environment=") },
        { "events-backend", 0, VALUE, GLOBAL, FINE("*") },
        { "expose", 0, LIST, KEY("ExposeHostPort") },
        { "gpus", 0, LIST, APPLY(apply_gpus) },
        { "group-entry", 0, VALUE, ADVICE("put the line into the image's /etc/group") },
        { "help", 0, FLAG, NO_COMMAND },
        { "hooks-dir", 0, VALUE, GLOBAL, ADVICE("name the directory in hooks_dir of containers.conf(5)") },
        { "hosts-file", 0, VALUE, ADVICE("write Volume=FILE:/etc/hosts:ro") },
        { "hostuser", 0, LIST, ADVICE("put the user into the image's /etc/passwd, or write the number in User=") },
        { "identity", 0, VALUE, GLOBAL, NO_COMMAND },
        { "imagestore", 0, VALUE, GLOBAL, ADVICE("name the directory in imagestore of storage.conf(5)") },
        { "ip", 0, VALUE, KEY("IP") },
        { "ip6", 0, VALUE, KEY("IP6") },
        { "label-file", 0, VALUE, ADVICE("write the labels in Label=") },
        { "log-driver", 0, VALUE, KEY("LogDriver") },
        { "log-level", 0, VALUE, GLOBAL, FINE("*") },
        { "log-opt", 0, VALUE, KEY("LogOpt") },
        { "mac-address", 0, VALUE, .apply = network_set_mac },
        { "memory", 'm', VALUE, KEY("Memory") },
        { "memory-reservation", 0, VALUE, SETTING("MemoryLow", cgroup_convert_size) },
        { "memory-swap", 0, VALUE, .apply = cgroup_limits_set_memory_swap },
        { "memory-swappiness", 0, VALUE, CGROUP_V1 },
        { "module", 0, VALUE, GLOBAL, KEY("ContainersConfModule") },
        { "net", 0, VALUE, KEY("Network") },
        { "network", 0, VALUE, KEY("Network") },
        { "network-alias", 0, LIST, KEY("NetworkAlias") },
        { "network-cmd-path", 0, VALUE, GLOBAL, NO_COMMAND },
        { "network-config-dir", 0, VALUE, GLOBAL,
          ADVICE("name the directory in network_config_dir of containers.conf(5)") },
        { "no-hostname", 0, FLAG, FINE_OR("false", "write Volume=FILE:/etc/hostname:ro") },
        { "oom-kill-disable", 0, FLAG, CGROUP_V1 },
        { "oom-score-adj", 0, VALUE, SETTING("OOMScoreAdjust", convert_adjustment) },
        { "os", 0, VALUE, AS_IMAGE },
        { "out", 0, VALUE, GLOBAL, NO_COMMAND },
        { "passwd", 0, FLAG, FINE_OR("true", "put the user into the image's /etc/passwd") },
        { "passwd-entry", 0, VALUE, ADVICE("put the line into the image's /etc/passwd") },
        { "personality", 0, VALUE, ADVICE("let the program call personality(2)") },
        { "pidfile", 0, VALUE, ADVICE("systemctl show -P MainPID tells the payload's number") },
        { "pids-limit", 0, VALUE, KEY("PidsLimit") },
        { "platform", 0, VALUE, AS_IMAGE },
        { "pod", 0, VALUE, ADVICE("write Pod=NAME.pod, and a .pod file of that name") },
        { "pod-id-file", 0, VALUE, ADVICE("write Pod=NAME.pod, and a .pod file of that name") },
        { "preserve-fd", 0, LIST,
          ADVICE("let systemd hand files and sockets over: OpenFile= or Sockets= in [Service]") },
        { "preserve-fds", 0, VALUE,
          ADVICE("let systemd hand files and sockets over: OpenFile= or Sockets= in "
                 "[Service]") },
        { "publish", 'p', LIST, KEY("PublishPort") },
        { "publish-all", 'P', FLAG, FINE_OR("false", "name the ports in PublishPort=") },
        { "pull", 0, VALUE, KEY("Pull") },
        { "quiet", 'q', FLAG, FINE("*") },
        { "rdt-class", 0, VALUE, ADVICE("write the payload's number into the class: ExecStartPost= in [Service]") },
        { "remote", 'r', FLAG, GLOBAL, NO_COMMAND },
        { "replace", 0, FLAG, FINE("*") },
        { "requires", 0, LIST, ADVICE("write Requires= and After= in [Unit]") },
        { "restart", 0, VALUE, FINE_OR("no", "write Restart= in [Service]") },
        { "retry", 0, VALUE, KEY("Retry") },
        { "retry-delay", 0, VALUE, KEY("RetryDelay") },
        { "rm", 0, FLAG,
          FINE_OR("true", "nothing is left of a container that has stopped; use a volume for what is to "
                          "stay") },
        { "rmi", 0, FLAG, FINE_OR("false", "keyturn never removes an image; remove the option") },
        { "root", 0, VALUE, GLOBAL, ADVICE("name the directory in graphroot of storage.conf(5)") },
        { "runroot", 0, VALUE, GLOBAL, FINE("*") },
        { "runtime", 0, VALUE, GLOBAL, FINE("crun"), APPLY(runtime_apply) },
        { "runtime-flag", 0, VALUE, GLOBAL,
          ADVICE("a script that calls the runtime with it can be named in Runtime=") },
        { "seccomp-policy", 0, VALUE, FINE_OR("default", "write SeccompProfile=") },
        { "shm-size-systemd", 0, VALUE, ADVICE("write Tmpfs=/run:size=SIZE") },
        { "sig-proxy", 0, FLAG, FINE("*") },
        { "ssh", 0, VALUE, GLOBAL, NO_COMMAND },
        { "stop-timeout", 0, VALUE, KEY("StopTimeout") },
        { "storage-driver", 0, VALUE, GLOBAL,
          FINE_OR("overlay", "keyturn can only mount images of the overlay driver") },
        { "syslog", 0, FLAG, GLOBAL, FINE("*") },
        { "timeout", 0, VALUE, IN_SERVICE("RuntimeMaxSec=") },
        { "tls-verify", 0, FLAG, NO_PULL },
        { "tmpdir", 0, VALUE, GLOBAL, FINE("*") },
        { "transient-store", 0, FLAG, GLOBAL, FINE("*") },
        { "tty", 't', FLAG, FINE("false"), APPLY(apply_tty),
          .warning = "a service has no terminal; its output goes to the journal through a pipe" },
        { "unsetenv", 0, VALUE, ADVICE("Environment=NAME= makes a variable empty") },
        { "unsetenv-all", 0, FLAG, FINE_OR("false", "Environment=NAME= makes a variable empty") },
        { "url", 0, VALUE, GLOBAL, NO_COMMAND },
        { "variant", 0, VALUE, AS_IMAGE },
        { "version", 'v', FLAG, GLOBAL, NO_COMMAND },
        { "volumepath", 0, VALUE, GLOBAL, ADVICE("name the directories of the host in Volume=") },
        { "volumes-from", 0, VALUE, ADVICE("write the same Volume= in both files") },
};

const PodmanOptions podman_run = { "podman run", options, G_N_ELEMENTS(options), .has_libstarts = true };

/*
 * Taking the words apart
 */

typedef struct Words {
        GArray *all; /* of Noted */
        guint next;
        bool is_global; /* of GlobalArgs= */
        const PodmanOptions *known;
} Words;

/* One option, as it is written. */
typedef struct Given {
        const PodmanOption *option;
        const char *name;  /* "--memory" or "-m" */
        const char *value; /* NULL: none is there */
} Given;

/* NULL behind the last one. */
static const char *find_word(const Words *words, guint i) {
        return i < words->all->len ? g_array_index(words->all, Noted, i).text : NULL;
}

static const PodmanOption *find_long(const PodmanOptions *known, const char *name, size_t length) {
        for (size_t i = 0; i < known->n_options; i++)
                if (strncmp(known->options[i].name, name, length) == 0 && known->options[i].name[length] == '\0')
                        return &known->options[i];
        return NULL;
}

static bool is_listed(const PodmanOptions *known, const char *word) {
        return g_str_has_prefix(word, "--") && find_long(known, word + 2, strcspn(word + 2, "="));
}

static const PodmanOption *find_letter(const PodmanOptions *known, char letter, bool is_global) {
        for (size_t i = 0; letter && i < known->n_options; i++)
                if (known->options[i].letter == letter && known->options[i].is_global == is_global)
                        return &known->options[i];
        return NULL;
}

/* "-it": several flags in one word. */
static bool is_cluster(const Words *words, const char *word) {
        const LaunchOption *known = words->known->has_libstarts ? launch_option_find_letter(word[1]) : NULL;
        const PodmanOption *option = find_letter(words->known, word[1], words->is_global);
        bool is_flag = known ? known->kind == LAUNCH_OPTION_FLAG : option && option->form == FLAG;

        return is_flag && word[1] != '-' && word[2] && word[2] != '=';
}

/* Into the first of them and the others. */
static void split_cluster(Words *words) {
        Noted *word = &g_array_index(words->all, Noted, words->next);
        Noted others = { g_strconcat("-", word->text + 2, NULL), word->line };

        word->text[2] = '\0';
        g_array_insert_val(words->all, words->next + 1, others);
}

/* Moves words->next behind the option and its value. */
static bool read_option(Words *words, Given *ret, GError **error) {
        const char *word = find_word(words, words->next++);
        size_t length = word[1] == '-' ? 2 + strcspn(word + 2, "=") : (size_t) (g_utf8_next_char(word + 1) - word);
        g_autofree char *name = g_strndup(word, length);

        ret->name = g_intern_string(name);
        ret->option = word[1] == '-' ? find_long(words->known, word + 2, length - 2) :
                                       find_letter(words->known, word[1], words->is_global);
        if (!ret->option)
                return error_set(error, KT_ERROR_USAGE, "%s is no option of %s", ret->name,
                                 words->is_global ? "podman itself" : words->known->command);
        if (words->is_global && !ret->option->is_global)
                return error_set(error, KT_ERROR_USAGE, "%s is an option of %s: write it in PodmanArgs=", ret->name,
                                 words->known->command);
        ret->value = word[length] ? word + length + (word[length] == '=') : NULL;
        if (!ret->value && ret->option->form == FLAG)
                ret->value = "true";
        else if (!ret->value)
                ret->value = find_word(words, words->next++);
        return ret->value || error_set(error, KT_ERROR_USAGE, "%s: a value is missing", ret->name);
}

static bool is_fine(const PodmanOption *option, const char *value) {
        g_auto(GStrv) words = option->fine ? g_strsplit(option->fine, " ", -1) : NULL;

        return words && (g_str_equal(option->fine, "*") || g_strv_contains((const char *const *) words, value));
}

static bool set_key(Conversion *container, const PodmanOption *option, const char *value, const UnitLine *line,
                    GError **error) {
        g_auto(GStrv) values = g_strsplit(value, option->form == LIST ? "," : "\n", -1);

        for (char **one = values; *one; one++)
                if (!keys_apply_value(container, option->key, *one, line, error))
                        return false;
        return true;
}

static bool apply_option(Conversion *container, const Given *given, const UnitLine *line, GError **error) {
        const PodmanOption *option = given->option;
        bool ok;

        if (is_fine(option, given->value))
                return true;
        if (option->advice)
                return error_set(error, KT_ERROR_UNSUPPORTED, "%s is not supported: %s", given->name, option->advice);
        if (option->apply)
                ok = option->apply(container, given->value, error);
        else if (option->setting)
                ok = cgroup_setting_apply(container, option->setting, option->convert, given->value, error);
        else if (option->key)
                ok = set_key(container, option, given->value, line, error);
        else
                ok = launch_args_set(container->args, option->name, given->value, error);
        if (!ok)
                g_prefix_error(error, "%s: ", given->name);
        else if (option->warning)
                conversion_warning(container, line, "%s: %s", given->name, option->warning);
        return ok;
}

/* One that libstart has: `alone` gets it to see whether it is right. `n`: how many words it is. */
static bool take_known(Conversion *container, Words *words, guint n, const UnitLine *line, GError **error) {
        const char *word = find_word(words, words->next);
        const char *option[3] = { word, n > 1 ? find_word(words, words->next + 1) : NULL };
        g_autoptr(LaunchArgs) alone = launch_args_new();

        words->next += n;
        if (words->is_global && !g_str_has_prefix(word, "--storage-opt"))
                return error_set(error, KT_ERROR_USAGE,
                                 "%s is an option of podman run: write it in PodmanArgs=", word);
        if (!launch_args_parse_options(alone, option, error))
                return false;
        if (alone->state_dir || alone->print_spec || alone->env_list || alone->untrusted_list ||
            alone->guard_devices || alone->own_cgroup || alone->network_id || alone->hooks->len > 0 ||
            alone->shm_path || alone->runtime)
                return error_set(error, KT_ERROR_USAGE, "%s is keyturn's own, and not for PodmanArgs=", word);
        if (alone->rootfs)
                return error_set(error, KT_ERROR_USAGE, "%s is not for PodmanArgs=: write Rootfs=", word);
        if (alone->detach == FLAG_FALSE)
                return error_set(error, KT_ERROR_USAGE, "%s: a service runs by itself; remove the option", word);
        if (alone->detach)
                return true;        /* Quadlet says so, too */
        if (alone->labels->len > 0) /* one of them is a key */
                return keys_apply_value(container, "Label", alone->labels->pdata[0], line, error);
        if (!devices_check(alone, error))
                return error_prefix(error, "--device: ");
        return launch_args_parse_options(container->args, option, NULL);
}

static bool take_option(Conversion *container, Words *words, const UnitLine *line, GError **error) {
        const char *word = find_word(words, words->next);
        bool is_libstarts = words->known->has_libstarts && !is_listed(words->known, word);
        guint n = is_libstarts ? launch_args_option_words(word) : 0;
        Given given = { 0 };

        if (word[0] != '-' || !word[1] || g_str_equal(word, "--")) {
                words->next++;
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an option", word);
        }
        if (is_cluster(words, word)) {
                split_cluster(words);
                return true;
        }
        if (n > 0)
                return take_known(container, words, n, line, error);
        return read_option(words, &given, error) && apply_option(container, &given, line, error);
}

static void take_all(Conversion *container, const PodmanOptions *known, GArray *all, bool is_global) {
        Words words = { .all = all, .is_global = is_global, .known = known };

        while (words.next < all->len) {
                const UnitLine *line = g_array_index(all, Noted, words.next).line;
                g_autoptr(GError) error = NULL;

                if (!take_option(container, &words, line, &error))
                        conversion_problem(container, line, "%s", error->message);
        }
}

void podman_args_apply(Conversion *container, const PodmanOptions *known) {
        take_all(container, known, container->podman.global_args, true);
        take_all(container, known, container->podman.args, false);
}
