/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/device-request.h"
#include "libstart/request/device-rule.h"
#include "libstart/request/health-command.h"
#include "libstart/request/hook-word.h"
#include "libstart/request/launch-option.h"
#include "libstart/request/mount-request.h"
#include "libstart/request/secret-request.h"
#include "libstart/request/security-option.h"
#include "libstart/value/annotation.h"
#include "libstart/value/capability.h"
#include "libstart/value/go-duration.h"
#include "libstart/value/host-entry.h"
#include "libstart/value/id-map.h"
#include "libstart/value/names.h"
#include "libstart/value/signal-name.h"
#include "libstart/value/size.h"
#include "libstart/value/sysctl.h"
#include "libstart/value/ulimit.h"
#include "libstart/value/user-spec.h"

/* The readers: each puts one value of its option into a request. Later values replace earlier ones, or are added to
 * them. */

/* Takes ownership of `item`; NULL is an error of the parser's. */
static bool keep(GPtrArray **list, void *item, GDestroyNotify free_item) {
        if (!item)
                return false;
        if (!*list)
                *list = g_ptr_array_new_with_free_func(free_item);
        g_ptr_array_add(*list, item);
        return true;
}

static bool keep_mount(ContainerRequest *request, const char *value, MountRequest *mount) {
        if (mount)
                mount->text = value;
        return keep(&request->mounts, mount, (GDestroyNotify) mount_request_free);
}

static bool read_volume(ContainerRequest *request, const char *value, GError **error) {
        return keep_mount(request, value, mount_request_parse_volume(value, error));
}

static bool read_mount(ContainerRequest *request, const char *value, GError **error) {
        return keep_mount(request, value, mount_request_parse_mount(value, error));
}

static bool read_tmpfs(ContainerRequest *request, const char *value, GError **error) {
        return keep_mount(request, value, mount_request_parse_tmpfs(value, error));
}

static bool read_device(ContainerRequest *request, const char *value, GError **error) {
        return keep(&request->devices, device_request_parse(value, error), (GDestroyNotify) device_request_free);
}

static bool read_device_rule(ContainerRequest *request, const char *value, GError **error) {
        DeviceRule rule;

        if (!device_rule_parse(value, &rule, error))
                return false;
        if (!request->device_rules)
                request->device_rules = g_array_new(FALSE, FALSE, sizeof(DeviceRule));
        g_array_append_val(request->device_rules, rule);
        return true;
}

/* Podman keeps what it mounts, and what it sets, by target: the last one counts. */
static void forget_secret(GPtrArray *secrets, const SecretRequest *same) {
        for (guint i = secrets ? secrets->len : 0; i-- > 0;) {
                const SecretRequest *other = secrets->pdata[i];

                if (other->is_variable == same->is_variable && g_str_equal(other->target, same->target))
                        g_ptr_array_remove_index(secrets, i);
        }
}

static bool read_secret(ContainerRequest *request, const char *value, GError **error) {
        SecretRequest *secret = secret_request_parse(value, error);

        if (secret)
                forget_secret(request->secrets, secret);
        return keep(&request->secrets, secret, (GDestroyNotify) secret_request_free);
}

static bool read_sysctl(ContainerRequest *request, const char *value, GError **error) {
        return keep(&request->sysctls, sysctl_parse(value, error), (GDestroyNotify) sysctl_free);
}

/* Of a list of words that are kept one by one, takes the words. NULL is an error of the parser's. */
static bool keep_words(GPtrArray **list, char **words) {
        for (char **word = words; word && *word; word++)
                keep(list, *word, g_free);
        g_free(words);
        return words;
}

static bool read_group(ContainerRequest *request, const char *value, GError **error) {
        char **groups = user_spec_parse_groups(value, error);

        if (groups && g_str_equal(groups[0], USER_SPEC_KEEP_GROUPS)) {
                request->keep_groups = true;
                g_strfreev(groups);
                return true;
        }
        return keep_words(&request->groups, groups);
}

static bool read_security(ContainerRequest *request, const char *value, GError **error) {
        SecurityOption option;

        if (!security_option_parse(value, &option, error))
                return false;
        switch (option.kind) {
        case SECURITY_NO_NEW_PRIVILEGES:
                request->no_new_privileges = option.enabled;
                break;
        case SECURITY_SECCOMP:
                request->unconfined = !option.enabled;
                request->seccomp_profile = option.enabled ? option.text : NULL;
                break;
        case SECURITY_MASK:
                return keep_words(&request->masked, g_strsplit(option.text, ":", -1));
        case SECURITY_UNMASK:
                return keep_words(&request->unmasked, g_strsplit(option.text, ":", -1));
        case SECURITY_LABEL:
                return label_option_parse(option.text, &request->label, error);
        case SECURITY_APPARMOR:
                request->apparmor = option.text;
                break;
        }
        return true;
}

static bool read_ulimit(ContainerRequest *request, const char *value, GError **error) {
        Ulimit ulimit;

        if (!ulimit_parse(value, &ulimit, error))
                return false;
        if (!request->ulimits)
                request->ulimits = g_array_new(FALSE, FALSE, sizeof(Ulimit));
        if (ulimit.type)
                g_array_append_val(request->ulimits, ulimit);
        else
                request->host_limits = true;
        return true;
}

static bool read_host(ContainerRequest *request, const char *value, GError **error) {
        if (!request->hosts)
                request->hosts = g_string_new(NULL);
        return host_entry_append(request->hosts, value, error);
}

static bool read_umask(ContainerRequest *request, const char *value, GError **error) {
        if (!value[0] || strlen(value) > 4 || value[strspn(value, "01234567")])
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no file mode mask: up to four octal digits, as in 0022", value);
        request->umask = (guint32) g_ascii_strtoull(value, NULL, 8);
        return true;
}

static bool read_shm_size(ContainerRequest *request, const char *value, GError **error) {
        guint64 bytes;

        if (!size_parse(value, &bytes, error))
                return false;
        request->shm_size = (gint64) bytes;
        return true;
}

/* "always:" for a service that brings the image anew at each start. */
static bool read_image_unit(ContainerRequest *request, const char *value, GError **error) {
        request->image_unit_counts = g_str_has_prefix(value, "always:");
        request->image_unit = value + (request->image_unit_counts ? strlen("always:") : 0);
        return g_str_has_suffix(request->image_unit, ".service") ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no service", request->image_unit);
}

static bool read_storage(ContainerRequest *request, const char *value, GError **error) {
        bool is_stores;

        return storage_option_parse_stores(value, &request->image_stores, &is_stores, error) &&
               (is_stores || storage_option_parse(value, &request->storage, error));
}

static bool read_store(ContainerRequest *request, const char *value, GError **error) {
        request->users_store = g_str_equal(value, "user");
        return request->users_store || g_str_equal(value, "system") ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is no store: user (the user's own first, then the system's) or system", value);
}

/* "private" (and "shareable"), "host", "ns:PATH"; that of another container is its pod's, or not to be had. */
static bool parse_namespace(const char *value, NamespaceChoice *ret, GError **error) {
        *ret = (NamespaceChoice) {
                .host = g_str_equal(value, "host"),
                .path = g_str_has_prefix(value, "ns:") ? value + strlen("ns:") : NULL,
        };
        if (ret->path)
                return path_value_check(ret->path, error);
        return ret->host || g_str_equal(value, "") || g_str_equal(value, "private") ||
               g_str_equal(value, "shareable") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': a container has a namespace of its own (private), the machine's (host), or that of "
                         "its pod (Pod=NAME.pod)",
                         value);
}

static bool read_pid(ContainerRequest *request, const char *value, GError **error) {
        return parse_namespace(value, &request->pid, error) &&
               (!request->pid.path ||
                error_set(error, KT_ERROR_UNSUPPORTED,
                          "'%s': a container has processes of its own (private), or sees the machine's (host)",
                          value));
}

/* Its index, or n where it is none of them. */
static size_t find_word(const char *const *words, size_t n, const char *value) {
        size_t i = 0;

        while (i < n && !g_str_equal(words[i], value))
                i++;
        return i;
}

static bool read_image_volume(ContainerRequest *request, const char *value, GError **error) {
        static const char *const names[] = {
                [IMAGE_VOLUMES_ANONYMOUS] = "anonymous",
                [IMAGE_VOLUMES_KEPT] = "bind",
                [IMAGE_VOLUMES_TMPFS] = "tmpfs",
                [IMAGE_VOLUMES_IGNORED] = "ignore",
        };
        size_t found = find_word(names, G_N_ELEMENTS(names), *value ? value : "anonymous");

        if (found == G_N_ELEMENTS(names))
                return error_set(error, KT_ERROR_USAGE, "'%s' is none of anonymous, bind, tmpfs and ignore", value);
        request->image_volumes = (ImageVolumes) found;
        return true;
}

static bool read_notify(ContainerRequest *request, const char *value, GError **error) {
        static const char *const names[] = {
                [NOTIFY_CONMON] = "conmon",
                [NOTIFY_CONTAINER] = "container",
                [NOTIFY_HEALTHY] = "healthy",
                [NOTIFY_IGNORE] = "ignore",
        };
        size_t found = find_word(names, G_N_ELEMENTS(names), value);

        if (found == G_N_ELEMENTS(names))
                return error_set(error, KT_ERROR_USAGE,
                                 "there is no sdnotify mode '%s': use conmon, container, healthy or ignore", value);
        request->notify = (NotifyMode) found;
        return true;
}

static bool read_log_option(ContainerRequest *request, const char *value, GError **error) {
        return log_option_parse(value, &request->log_tag, &request->log_path, error);
}

static bool read_health_cmd(ContainerRequest *request, const char *value, GError **error) {
        request->health.is_none = health_command_is_none(value);
        return !*value || health_command_parse(value, &request->health.regular.command, error);
}

static bool read_health_log_destination(ContainerRequest *request, const char *value, GError **error) {
        return health_log_parse(value, &request->health.log, &request->health.log_directory, error);
}

/* Podman would run such a check, and never be content with it. */
static bool read_health_startup_cmd(ContainerRequest *request, const char *value, GError **error) {
        if (health_command_is_none(value))
                return error_set(error, KT_ERROR_USAGE, "'%s' would never succeed: leave it out", value);
        return !*value || health_command_parse(value, &request->health.startup.command, error);
}

/* Those that are a parser alone, for the field that is behind it. */
#define READER(name, parse, field)                                                              \
        static bool read_##name(ContainerRequest *request, const char *value, GError **error) { \
                return parse(value, &request->field, error);                                    \
        }

READER(cap_add, capability_add, cap_added)
READER(cap_drop, capability_add, cap_dropped)
READER(dns, dns_request_add_servers, dns)
READER(dns_search, dns_request_add_searches, dns)
READER(dns_option, dns_request_add_options, dns)
READER(network, network_mode_parse, network)
READER(ipc, parse_namespace, ipc)
READER(uts, parse_namespace, uts)
READER(userns, userns_request_parse, userns)
READER(log_driver, log_driver_parse, log_driver)
READER(systemd, systemd_mode_parse, systemd)
READER(stop_signal, signal_name_parse, stop_signal)
READER(health_interval, health_interval_parse, health.regular.interval)
READER(health_retries, health_retries_parse, health.regular.retries)
READER(health_timeout, health_timeout_parse, health.regular.timeout)
READER(health_start_period, go_duration_parse, health.start_period)
READER(health_on_failure, health_action_parse, health.on_failure)
READER(health_max_log_count, health_count_parse, health.max_log_count)
READER(health_max_log_size, health_count_parse, health.max_log_size)
READER(health_startup_interval, health_interval_parse, health.startup.interval)
READER(health_startup_retries, health_count_parse, health.startup.retries)
READER(health_startup_success, health_count_parse, health.startup.successes)
READER(health_startup_timeout, health_timeout_parse, health.startup.timeout)

/* Values that stay text are only checked. */

static bool check_user(const char *value, GError **error) {
        return user_spec_parse(value, NULL, NULL, error);
}

static bool check_map(IdKind kind, const char *value, GError **error) {
        g_autoptr(GArray) map = id_map_new();

        return id_map_parse(map, kind, value, error);
}

static bool check_uidmap(const char *value, GError **error) {
        return check_map(ID_UID, value, error);
}

static bool check_gidmap(const char *value, GError **error) {
        return check_map(ID_GID, value, error);
}

static bool check_owner(const char *value, GError **error) {
        g_autofree char *user = NULL;

        return user_spec_parse(value, &user, NULL, error) &&
               ((user && *user) || error_set(error, KT_ERROR_USAGE, "'%s': a user is missing", value));
}

static bool check_subid_name(const char *value, GError **error) {
        return (value[0] && !strpbrk(value, ":,\n")) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no name of a user in /etc/subuid or /etc/subgid", value);
}

/* NAME=VALUE, NAME or PREFIX*; podman takes blanks in front. The value may be secret and is never printed. */
static bool check_env(const char *value, GError **error) {
        value += strspn(value, " \t");
        if (value[0] == '\0' || value[0] == '=')
                return error_set(error, KT_ERROR_USAGE, "an environment variable needs a name before '='");
        return true;
}

static bool check_hook(const char *value, GError **error) {
        return path_value_check(value + (g_str_has_prefix(value, HOOK_WORD_MAYBE) ? strlen(HOOK_WORD_MAYBE) : 0),
                                error);
}

#define STRING(field) LAUNCH_OPTION_STRING, offsetof(LaunchArgs, field)
#define LIST(field) LAUNCH_OPTION_LIST, offsetof(LaunchArgs, field)
#define FLAG(field) LAUNCH_OPTION_FLAG, offsetof(LaunchArgs, field), KEEP(field), NULL
#define FLAG_OF_MAIN(field) LAUNCH_OPTION_FLAG, offsetof(LaunchArgs, field), NULL, NULL, NOT_KEPT, NULL

/* The field of the request that keeps the value as it is, having checked it; or who reads it. */
#define KEEP(field) CHECK(NULL, field)
#define CHECK(function, field) function, NULL, offsetof(ContainerRequest, field)
#define READ(function) NULL, function, NOT_KEPT
#define NOT_KEPT LAUNCH_OPTION_NOT_KEPT

const LaunchOption launch_options[] = {
        { "--name", 0, STRING(name), CHECK(name_check_container, name), "NAME", "name of the container" },
        { "--hostname", 'h', STRING(hostname), CHECK(name_check_host, hostname), "NAME", "host name inside" },
        { "--label", 'l', LIST(labels), KEEP(labels), "KEY=VALUE", "label of the container" },
        { "--annotation", 0, LIST(annotations), CHECK(annotation_check, annotations), "KEY=VALUE", "OCI annotation" },
        { "--entrypoint", 0, STRING(entrypoint), KEEP(entrypoint), "COMMAND", "replaces the image's entrypoint" },
        { "--init", 0, FLAG(init), "run it below catatonit, which waits for orphans" },
        { "--init-path", 0, STRING(init_path), CHECK(path_value_check, init_path), "FILE", "or below this program" },
        { "--systemd", 0, STRING(systemd), READ(read_systemd), "true|false|always",
          "the payload is an init like systemd" },
        { "--user", 'u', STRING(user), CHECK(check_user, user), "USER[:GROUP]", "name or id the payload runs as" },
        { "--group-add", 0, LIST(group_add), READ(read_group), "GROUP", "one more group of the payload" },
        { "--workdir", 'w', STRING(workdir), CHECK(path_value_check, workdir), "DIR", "working directory" },
        { "--umask", 0, STRING(umask), READ(read_umask), "MASK", "rights that new files do not get (0022)" },
        { "--env", 'e', LIST(env), CHECK(check_env, env), "NAME[=VALUE]", "environment variable" },
        { "--env-file", 0, LIST(env_files), CHECK(path_value_check, env_files), "FILE",
          "file of environment variables" },
        { "--env-host", 0, FLAG(env_host), "pass the caller's whole environment" },
        { "--http-proxy", 0, FLAG(http_proxy), "pass the caller's proxy variables (default)" },
        { "--tz", 0, STRING(timezone), CHECK(name_check_time_zone, timezone), "ZONE",
          "time zone, or local for the host's" },
        { "--rootfs", 0, FLAG(rootfs), "IMAGE is a directory, DIR[:O]" },
        { "--read-only", 0, FLAG(read_only), "root file system is read-only" },
        { "--read-only-tmpfs", 0, FLAG(read_only_tmpfs), "but /run, /tmp, /var/tmp are not (default)" },
        { "--volume", 'v', LIST(volumes), READ(read_volume), "SRC:DST[:OPT]", "bind mount" },
        { "--mount", 0, LIST(mounts), READ(read_mount), "type=T,KEY=VALUE", "bind mount or tmpfs" },
        { "--tmpfs", 0, LIST(tmpfs), READ(read_tmpfs), "DST[:OPT]", "tmpfs mount" },
        { "--device", 0, LIST(devices), READ(read_device), "SRC[:DST][:rwm]", "device node of the host" },
        { "--device-cgroup-rule", 0, LIST(device_rules), READ(read_device_rule), "RULE",
          "devices that may be used: c 13:* rw" },
        { "--privileged", 0, FLAG(privileged), "nothing protects the host from the container" },
        { "--secret", 0, LIST(secrets), READ(read_secret), "NAME[,OPTION...]", "secret, as a file or a variable" },
        { "--shm-size", 0, STRING(shm_size), READ(read_shm_size), "SIZE", "size of /dev/shm (default 64m)" },
        { "--shm-path", 0, STRING(shm_path), CHECK(path_value_check, shm_path), "DIR",
          "the host's directory for /dev/shm" },
        { "--pid", 0, STRING(pid), READ(read_pid), "MODE", "process namespace: private, host" },
        { "--ipc", 0, STRING(ipc), READ(read_ipc), "MODE", "IPC namespace: private, host, ns:PATH" },
        { "--uts", 0, STRING(uts), READ(read_uts), "MODE", "namespace of the host name: private, host, ns:PATH" },
        { "--image-volume", 0, STRING(image_volume), READ(read_image_volume), "WAY",
          "the image's VOLUMEs: anonymous, bind, tmpfs, ignore" },
        { "--image-unit", 0, STRING(image_unit), READ(read_image_unit), "[always:]UNIT",
          "what brings the image ahead" },
        { "--storage-opt", 0, LIST(storage_opt), READ(read_storage), "NAME=VALUE",
          "size=, inodes=, additionalimagestore=" },
        { "--store", 0, STRING(store), READ(read_store), "user|system",
          "look for the image in the owner's own store first" },
        { "--network", 0, STRING(network), READ(read_network), "MODE",
          "host, none, pinned:NAME, owned:NAME, ns:PATH, container:UNIT, podman:NAME" },
        { "--network-id", 0, STRING(network_id), KEEP(network_id), "ID", "what that network is to be made for" },
        { "--net", 0, STRING(network), READ(read_network), NULL, NULL },
        { "--add-host", 0, LIST(add_hosts), READ(read_host), "NAME:ADDRESS", "entry of /etc/hosts" },
        { "--no-hosts", 0, FLAG(no_hosts), "leave the image's /etc/hosts as it is" },
        { "--dns", 0, LIST(dns), READ(read_dns), "ADDRESS|none", "name server in /etc/resolv.conf" },
        { "--dns-search", 0, LIST(dns_search), READ(read_dns_search), "DOMAIN|.",
          "domain that names are searched in" },
        { "--dns-option", 0, LIST(dns_option), READ(read_dns_option), "OPTION", "option of resolv.conf(5)" },
        { "--userns", 0, STRING(userns), READ(read_userns), "MODE", "user namespace: auto, keep-id, ns:PATH, host" },
        { "--owner", 0, STRING(owner), CHECK(check_owner, userns.owner), "USER[:GROUP]",
          "the user of the host that it belongs to" },
        { "--dynamic-user", 0, LAUNCH_OPTION_FLAG, offsetof(LaunchArgs, dynamic_user), KEEP(userns.is_dynamic), NULL,
          "ids that nobody has, and nothing of its own on the disk" },
        { "--uidmap", 0, LIST(uidmaps), CHECK(check_uidmap, userns.uidmaps), "ID:HOST[:N]",
          "user ids of the namespace" },
        { "--gidmap", 0, LIST(gidmaps), CHECK(check_gidmap, userns.gidmaps), "ID:HOST[:N]",
          "group ids of the namespace" },
        { "--subuidname", 0, STRING(subuidname), CHECK(check_subid_name, userns.subuid), "NAME",
          "user ids as in /etc/subuid" },
        { "--subgidname", 0, STRING(subgidname), CHECK(check_subid_name, userns.subgid), "NAME",
          "group ids as in /etc/subgid" },
        { "--cap-add", 0, LIST(cap_add), READ(read_cap_add), "CAP", "capability to add, or all" },
        { "--cap-drop", 0, LIST(cap_drop), READ(read_cap_drop), "CAP", "capability to drop, or all" },
        { "--security-opt", 0, LIST(security_opt), READ(read_security), "OPT",
          "no-new-privileges, seccomp=, [un]mask=, label=, apparmor=" },
        { "--ulimit", 0, LIST(ulimits), READ(read_ulimit), "NAME=SOFT[:HARD]", "resource limit" },
        { "--sysctl", 0, LIST(sysctls), READ(read_sysctl), "NAME=VALUE", "namespaced kernel parameter" },
        { "--log-driver", 0, STRING(log_driver), READ(read_log_driver), "DRIVER", "journald, passthrough or none" },
        { "--log-opt", 0, LIST(log_opt), READ(read_log_option), "tag=NAME|path=FILE",
          "identifier in the journal; file instead of it" },
        { "--sdnotify", 0, STRING(sdnotify), READ(read_notify), "MODE",
          "who says READY=1: conmon, container, healthy, ignore" },
        { "--health-cmd", 0, STRING(health_cmd), READ(read_health_cmd), "COMMAND",
          "shell command or JSON array that says whether it is well; none" },
        { "--health-interval", 0, STRING(health_interval), READ(read_health_interval), "SPAN|disable",
          "time between two checks (30s)" },
        { "--health-retries", 0, STRING(health_retries), READ(read_health_retries), "N",
          "failures in a row that make it unhealthy (3)" },
        { "--health-timeout", 0, STRING(health_timeout), READ(read_health_timeout), "SPAN",
          "time that a check may take (30s)" },
        { "--health-start-period", 0, STRING(health_start_period), READ(read_health_start_period), "SPAN",
          "time in which failures do not count (0s)" },
        { "--health-on-failure", 0, STRING(health_on_failure), READ(read_health_on_failure), "ACTION",
          "what is done then: none, kill, restart, stop" },
        { "--health-log-destination", 0, STRING(health_log_destination), READ(read_health_log_destination), "PLACE",
          "local, events_logger or a directory" },
        { "--health-max-log-count", 0, STRING(health_max_log_count), READ(read_health_max_log_count), "N",
          "results that are kept (5)" },
        { "--health-max-log-size", 0, STRING(health_max_log_size), READ(read_health_max_log_size), "BYTES",
          "output of each that is kept (500)" },
        { "--health-startup-cmd", 0, STRING(health_startup_cmd), READ(read_health_startup_cmd), "COMMAND",
          "another check, until it succeeds" },
        { "--health-startup-interval", 0, STRING(health_startup_interval), READ(read_health_startup_interval),
          "SPAN|disable", "time between two of these (30s)" },
        { "--health-startup-retries", 0, STRING(health_startup_retries), READ(read_health_startup_retries), "N",
          "failures of it before a restart (0: none)" },
        { "--health-startup-success", 0, STRING(health_startup_success), READ(read_health_startup_success), "N",
          "successes of it that are needed (1)" },
        { "--health-startup-timeout", 0, STRING(health_startup_timeout), READ(read_health_startup_timeout), "SPAN",
          "time that it may take (30s)" },
        { "--no-healthcheck", 0, LAUNCH_OPTION_FLAG, offsetof(LaunchArgs, no_healthcheck), KEEP(health.off), NULL,
          "do not run the image's check either" },
        { "--stop-signal", 0, STRING(stop_signal), READ(read_stop_signal), "SIGNAL",
          "signal that stops the payload" },
        { "--runtime-program", 0, STRING(runtime), CHECK(path_value_check, runtime), "FILE",
          "another OCI runtime, which then runs it" },
        { "--interactive", 'i', FLAG(interactive), "in a service, standard input stays open" },
        { "--detach", 'd', FLAG(detach), "hand the payload over to systemd and exit" },
        { "--cidfile", 0, STRING(cidfile), CHECK(path_value_check, id_file), "FILE",
          "write the container's name to this file" },
        { "--env-list", 0, STRING(env_list), CHECK(path_value_check, env_list), "FILE",
          "variables that keyturn-generator wrote apart" },
        { "--untrusted-list", 0, STRING(untrusted_list), CHECK(path_value_check, host_access.untrusted_list), "FILE",
          "directories that payloads write to" },
        { "--hook", 0, LIST(hooks), CHECK(check_hook, hooks), "[maybe:]FILE", "hook that is for it, or may be" },
        { "--guard-devices", 0, FLAG(guard_devices), "forbid all other devices, as the unit does not" },
        { "--own-cgroup", 0, FLAG(own_cgroup), "keep the payload from lifting the unit's limits" },
        { "--state-dir", 0, STRING(state_dir), CHECK(path_value_check, state_dir), "DIR",
          "the container's directory on /run" },
        { "--timing", 0, FLAG(timing), "say where the time of the start went" },
        { "--print-spec", 0, FLAG_OF_MAIN(print_spec), "print the OCI config.json, start nothing" },
};

const size_t n_launch_options = G_N_ELEMENTS(launch_options);

const LaunchOption *launch_option_find(const char *name, size_t length) {
        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].name[2] == name[0] && strncmp(launch_options[i].name + 2, name, length) == 0 &&
                    launch_options[i].name[2 + length] == '\0')
                        return &launch_options[i];
        return NULL;
}

const LaunchOption *launch_option_find_letter(char letter) {
        for (size_t i = 0; letter && i < n_launch_options; i++)
                if (launch_options[i].letter == letter)
                        return &launch_options[i];
        return NULL;
}

bool launch_option_read(const LaunchOption *option, ContainerRequest *request, const char *value, GError **error) {
        if ((!option->check || option->check(value, error)) && (!option->read || option->read(request, value, error)))
                return true;
        return error_prefix(error, "%s: ", option->name);
}
