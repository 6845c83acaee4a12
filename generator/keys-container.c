/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/cgroup-limits.h"
#include "generator/devices.h"
#include "generator/early.h"
#include "generator/keys-container.h"
#include "generator/layer-limits.h"
#include "generator/network.h"
#include "generator/reload.h"
#include "generator/source-path.h"
#include "libstart/base/error.h"

/*
 * Handlers of keys that are more than an option of libstart, but need no file of their own
 */

static void set_string(char **field, const char *value) {
        g_free(*field);
        *field = g_strdup(value);
}

static bool handle_exec(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->args->command, g_strdup(value->text));
        return true;
}

static bool handle_user(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->user, value->text);
        return key_set_option(container, "user", value->text, error);
}

static bool handle_group(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->group, value->text);
        return true;
}

static bool handle_image(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->image, value->text);
        if (g_str_has_suffix(value->text, ".image") || g_str_has_suffix(value->text, ".build"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' is a unit that pulls or builds, which keyturn does not do: name the image",
                                 value->text);
        return true;
}

/* DIR[:O]; what systemd expands is left for libstart to check. */
static bool handle_rootfs(Container *container, const Key *key, const Value *value, GError **error) {
        const char *colon = strchr(value->text, ':');

        set_string(&container->rootfs, value->text);
        if (strpbrk(value->text, "%$"))
                return true;
        if (value->text[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an absolute path", value->text);
        if (colon && !g_str_equal(colon, ":O"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': the only option is ':O' (an overlay keeps the directory as it is)", colon);
        return true;
}

static bool handle_no_new_privileges(Container *container, const Key *key, const Value *value, GError **error) {
        if (g_str_equal(value->text, "false"))
                return true;
        return key_set_option(container, "security-opt", "no-new-privileges", error);
}

/* Mask= and Unmask=; key->text says which. */
static bool handle_mask(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, "=", value->text, NULL);

        return key_set_option(container, "security-opt", option, error);
}

static bool handle_notify(Container *container, const Key *key, const Value *value, GError **error) {
        bool notify;

        if (g_ascii_strcasecmp(value->text, "healthy") == 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "health checks are not in this version of keyturn; use yes where the payload itself "
                                 "says READY=1, else no");
        if (!key_parse_boolean(value->text, &notify, error))
                return false;
        return !notify || key_set_option(container, "sdnotify", "container", error);
}

static bool handle_podman_args(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->extra, g_strdup(value->text));
        return true;
}

/* The key is valid, but there is nothing to do here. */
static bool handle_nothing(Container *container, const Key *key, const Value *value, GError **error) {
        return true;
}

static bool handle_seccomp_profile(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat("seccomp=", value->text, NULL);

        return !value->text[0] || key_set_option(container, "security-opt", option, error);
}

static bool handle_stop_timeout(Container *container, const Key *key, const Value *value, GError **error) {
        gint64 seconds;

        if (!g_ascii_string_to_signed(value->text, 10, -1, G_MAXINT32, &seconds, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no number of seconds (-1: wait for ever; specifiers do not work here)",
                                 value->text);
        g_free(container->stop_timeout);
        container->stop_timeout = g_strdup_printf("%" G_GINT64_FORMAT, seconds);
        return true;
}

/*
 * The tables
 */

/* Each says why the key is refused and what to do instead, behind "FILE:LINE: 'KEY=': not supported: ". */
#define NOT_YET "not in this version of keyturn; "
#define NO_BRIDGE "containers have the host's network or none, so there is no bridge; "
#define NO_PULL "keyturn never pulls an image; "
#define NO_HEALTH NOT_YET "use a timer and a service of your own, or WatchdogSec= in [Service] with Notify=true"
#define NO_SELINUX NOT_YET "SELinux labels of containers are not set"
#define NO_USERNS NOT_YET "containers share the host's user namespace; use User= for a payload that is not root"
#define OLD_USERNS "out of use in Podman, too; containers share the host's user namespace here"

/* Every key that Quadlet has in [Container], and how Podman reads it. man keyturn.container(5) lists the same. */
static const Key container_keys[] = {
        { "AddCapability", READ_WORDS, handle_option, "cap-add" },
        { "AddDevice", READ_WORDS, handle_add_device, NULL },
        { "AddHost", READ_LINES, handle_option, "add-host" },
        { "Annotation", READ_PAIRS, handle_option, "annotation" },
        { "AppArmor", READ_LAST, NULL, NOT_YET "containers run without a profile of their own" },
        { "AutoUpdate", READ_LAST, NULL, NO_PULL "remove the key and update images with Podman" },
        { "CgroupsMode", READ_LAST, NULL, "the payload runs in the cgroup of its service; use Slice= in [Service]" },
        { "ContainerName", READ_LAST, handle_option, "name" },
        { "ContainersConfModule", READ_LINES, NULL, "containers.conf is not read; write the settings as keys" },
        { "DNS", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DNSOption", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DNSSearch", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DropCapability", READ_WORDS, handle_option, "cap-drop" },
        { "Entrypoint", READ_LAST_SET, handle_option, "entrypoint" },
        { "Environment", READ_PAIRS, handle_option, "env" },
        { "EnvironmentFile", READ_ARGS, handle_environment_file, NULL },
        { "EnvironmentHost", READ_BOOLEAN, handle_option, "env-host" },
        { "Exec", READ_LAST_ARGS, handle_exec, NULL },
        { "ExposeHostPort", READ_LINES, NULL, NO_BRIDGE "remove the key: it does nothing with these networks" },
        { "GIDMap", READ_WORDS, NULL, NO_USERNS },
        { "GlobalArgs", READ_ARGS, NULL,
          "there is no podman command; additional image stores are read from storage.conf" },
        { "Group", READ_LAST, handle_group, NULL },
        { "GroupAdd", READ_LINES, handle_group_add, NULL },
        { "HealthCmd", READ_LAST, NULL, NO_HEALTH },
        { "HealthInterval", READ_LAST, NULL, NO_HEALTH },
        { "HealthLogDestination", READ_LAST, NULL, NO_HEALTH },
        { "HealthMaxLogCount", READ_LAST, NULL, NO_HEALTH },
        { "HealthMaxLogSize", READ_LAST, NULL, NO_HEALTH },
        { "HealthOnFailure", READ_LAST, NULL, NO_HEALTH },
        { "HealthRetries", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartPeriod", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupCmd", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupInterval", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupRetries", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupSuccess", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupTimeout", READ_LAST, NULL, NO_HEALTH },
        { "HealthTimeout", READ_LAST, NULL, NO_HEALTH },
        { "HostName", READ_LAST, handle_option, "hostname" },
        { "HttpProxy", READ_BOOLEAN, handle_option, "http-proxy" },
        { "IP", READ_LAST, NULL, NO_BRIDGE "remove the key: the host's addresses are the container's" },
        { "IP6", READ_LAST, NULL, NO_BRIDGE "remove the key: the host's addresses are the container's" },
        { "Image", READ_LAST, handle_image, NULL },
        { "Label", READ_PAIRS, handle_option, "label" },
        { "LogDriver", READ_LAST, handle_option, "log-driver" },
        { "LogOpt", READ_WORDS, handle_option, "log-opt" },
        { "Mask", READ_ARGS, handle_mask, "mask" },
        { "Memory", READ_LAST, handle_memory, NULL },
        { "Mount", READ_ARGS, handle_mount, NULL },
        { "Network", READ_LINES, handle_network, NULL },
        { "NetworkAlias", READ_LINES, NULL, NO_BRIDGE "remove the key" },
        { "NoNewPrivileges", READ_BOOLEAN, handle_no_new_privileges, NULL },
        { "Notify", READ_LAST, handle_notify, NULL },
        { "PidsLimit", READ_LAST, handle_pids_limit, NULL },
        { "Pod", READ_LAST, NULL, "keyturn makes no pods; let each container be a service, Network=host joins them" },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "PublishPort", READ_LINES, handle_publish_port, NULL },
        { "Pull", READ_LAST, NULL, NO_PULL "remove the key and pull with Podman or when the system is built" },
        { "ReadOnly", READ_BOOLEAN, handle_option, "read-only" },
        { "ReadOnlyTmpfs", READ_BOOLEAN, handle_option, "read-only-tmpfs" },
        { "ReloadCmd", READ_LAST_ARGS, handle_reload_cmd, NULL },
        { "ReloadSignal", READ_LAST, handle_reload_signal, NULL },
        { "RemapGid", READ_WORDS, NULL, OLD_USERNS },
        { "RemapUid", READ_WORDS, NULL, OLD_USERNS },
        { "RemapUidSize", READ_LAST, NULL, OLD_USERNS },
        { "RemapUsers", READ_LAST, NULL, OLD_USERNS },
        { "Retry", READ_LAST, NULL, NO_PULL "remove the key" },
        { "RetryDelay", READ_LAST, NULL, NO_PULL "remove the key" },
        { "Rootfs", READ_LAST, handle_rootfs, NULL },
        { "RunInit", READ_BOOLEAN, NULL, NOT_YET "use an image or an Exec= with an init of its own" },
        { "SeccompProfile", READ_LAST, handle_seccomp_profile, NULL },
        { "Secret", READ_ARGS, NULL, NOT_YET "bind-mount a file: Volume=/path/secret:/run/secrets/NAME:ro" },
        { "SecurityLabelDisable", READ_BOOLEAN, NULL, NO_SELINUX },
        { "SecurityLabelFileType", READ_LAST, NULL, NO_SELINUX },
        { "SecurityLabelLevel", READ_LAST, NULL, NO_SELINUX },
        { "SecurityLabelNested", READ_BOOLEAN, NULL, NO_SELINUX },
        { "SecurityLabelType", READ_LAST, NULL, NO_SELINUX },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* unit-names.c has read it before */
        { "ShmSize", READ_LAST, handle_option, "shm-size" },
        { "StartWithPod", READ_BOOLEAN, NULL, "keyturn makes no pods; remove the key" },
        { "StopSignal", READ_LAST, handle_option, "stop-signal" },
        { "StopTimeout", READ_LAST, handle_stop_timeout, NULL },
        { "SubGIDMap", READ_LAST, NULL, NO_USERNS },
        { "SubUIDMap", READ_LAST, NULL, NO_USERNS },
        { "Sysctl", READ_WORDS, handle_option, "sysctl" },
        { "Timezone", READ_LAST, handle_option, "tz" },
        { "Tmpfs", READ_LINES, handle_option, "tmpfs" },
        { "UIDMap", READ_WORDS, NULL, NO_USERNS },
        { "Ulimit", READ_LINES, handle_option, "ulimit" },
        { "Unmask", READ_ARGS, handle_mask, "unmask" },
        { "User", READ_LAST, handle_user, NULL },
        { "UserNS", READ_LAST, NULL, NO_USERNS },
        { "VolatileTmp", READ_BOOLEAN, NULL, "out of use in Podman, too; write Tmpfs=/tmp:rw,size=512M,mode=1777" },
        { "Volume", READ_LINES, handle_volume, NULL },
        { "WorkingDir", READ_LAST, handle_option, "workdir" },
};

const KeyTable keys_container = { "Container", container_keys, G_N_ELEMENTS(container_keys) };

/* In Podman it switches off dependencies on network-online.target, which keyturn never adds. */
static const Key quadlet_keys[] = {
        { "DefaultDependencies", READ_BOOLEAN, handle_nothing, NULL },
};

const KeyTable keys_quadlet = { "Quadlet", quadlet_keys, G_N_ELEMENTS(quadlet_keys) };

/* keyturn's own. Podman copies the section and does not read it. */
static const Key keyturn_keys[] = {
        { "Early", READ_LAST, handle_early, NULL },
        { "WritableLayerInodes", READ_LAST, handle_layer_limit, "inodes" },
        { "WritableLayerSize", READ_LAST, handle_layer_limit, "size" },
};

const KeyTable keys_keyturn = { "Keyturn", keyturn_keys, G_N_ELEMENTS(keyturn_keys) };

/*
 * What several keys say together
 */

static void finish_image(Container *container) {
        LaunchArgs *args = container->args;

        if (container->image && container->rootfs)
                container_problem(container, container_line(container, "Container", "Rootfs"),
                                  "Image= is given, too; remove one of the two");
        else if (!container->image && !container->rootfs) {
                if (container->source->unit->problems->len == 0) /* else it may be in a line that cannot be read */
                        container_problem(container, NULL, "Image= or Rootfs= must be given");
        } else {
                args->rootfs = container->rootfs ? FLAG_TRUE : FLAG_UNSET;
                args->image = g_strdup(container->rootfs ? container->rootfs : container->image);
        }
}

static void finish_user(Container *container) {
        const UnitLine *line = container_line(container, "Container", "Group");
        g_autofree char *both = NULL;
        g_autoptr(GError) error = NULL;

        if (!container->group)
                return;
        if (!container->user) {
                container_problem(container, line, "User= must be given, too");
                return;
        }
        both = g_strconcat(container->user, ":", container->group, NULL);
        if (!launch_args_set(container->args, "user", both, &error))
                container_problem(container, line, "%s", error->message);
}

/* PodmanArgs= comes last, as on Podman's command line: what it says counts. */
static void finish_extra(Container *container) {
        const UnitLine *line = container_line(container, "Container", "PodmanArgs");
        g_autoptr(LaunchArgs) alone = NULL;
        const char *const *words;
        g_autoptr(GError) error = NULL;

        if (container->extra->len == 0)
                return;
        alone = launch_args_new();
        g_ptr_array_add(container->extra, NULL);
        words = (const char *const *) container->extra->pdata;
        if (!launch_args_parse_options(alone, words, &error))
                container_problem(container, line, "%s", error->message);
        else if (alone->detach || alone->state_dir || alone->print_spec || alone->rootfs || alone->guard_devices)
                container_problem(container, line,
                                  "--detach, --guard-devices, --rootfs, --state-dir and --print-spec are not for "
                                  "PodmanArgs=");
        else if (!devices_check(alone, &error))
                container_problem(container, line, "--device: %s", error->message);
        else
                (void) launch_args_parse_options(container->args, words, NULL);
}

void keys_container_finish(Container *container) {
        finish_image(container);
        finish_user(container);
        finish_extra(container);
}
