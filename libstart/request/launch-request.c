/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/request/device-request.h"
#include "libstart/request/device-rule.h"
#include "libstart/request/launch-option.h"
#include "libstart/request/launch-request.h"
#include "libstart/request/mount-request.h"
#include "libstart/request/runtime-rules.h"
#include "libstart/request/secret-request.h"
#include "libstart/value/capability.h"
#include "libstart/value/sysctl.h"
#include "libstart/value/ulimit.h"
#include "libstart/value/user-spec.h"

static void copy_value(const LaunchArgs *args, ContainerRequest *request, const LaunchOption *option) {
        void *copy = (char *) request + option->kept;

        if (option->kind != LAUNCH_OPTION_FLAG)
                memcpy(copy, launch_option_field(args, option), sizeof(void *));
        else if (*(LaunchFlag *) launch_option_field(args, option) != FLAG_UNSET)
                *(bool *) copy = *(LaunchFlag *) launch_option_field(args, option) == FLAG_TRUE;
}

/* reads: which values; NULL: all. */
static bool read_option(const LaunchArgs *args, ContainerRequest *request, const LaunchOption *option,
                        bool (*reads)(const char *value), GError **error) {
        if (option->kept != LAUNCH_OPTION_NOT_KEPT)
                copy_value(args, request, option);
        if (option->kind == LAUNCH_OPTION_STRING) {
                const char *value = *(char **) launch_option_field(args, option);

                return !value || (reads && !reads(value)) || launch_option_read(option, request, value, error);
        }

        const GPtrArray *list = option->kind == LAUNCH_OPTION_LIST ?
                                        *(GPtrArray **) launch_option_field(args, option) :
                                        NULL;
        for (guint i = 0; list && i < list->len; i++)
                if ((!reads || reads(list->pdata[i])) && !launch_option_read(option, request, list->pdata[i], error))
                        return false;
        return true;
}

/* Always false. */
static bool conflict(LaunchConflict *ret, const char *option, const char *other, GError **error,
                     const char *message) {
        *ret = (LaunchConflict) { .option = option, .other = other };
        return error_set(error, KT_ERROR_USAGE, "--%s: %s", option, message);
}

/* The same of an error that is set, and of one value of the option; NULL: of all. */
static bool name_conflict(LaunchConflict *ret, const char *option, const char *value, const char *other,
                          GError **error) {
        *ret = (LaunchConflict) { .option = option, .value = value, .other = other };
        g_prefix_error(error, "--%s: ", option);
        return false;
}

static const char *find_sysctl(const LaunchArgs *args, const char *name) {
        for (guint i = 0; i < args->sysctls->len; i++)
                if (g_str_has_prefix(args->sysctls->pdata[i], name))
                        return args->sysctls->pdata[i];
        return NULL;
}

/* The value of --cap-drop that --cap-add has, too. */
static const char *find_added(const LaunchArgs *args, const ContainerRequest *request) {
        for (guint i = 0; i < args->cap_drop->len; i++) {
                guint64 mask = 0;

                if (capability_parse(args->cap_drop->pdata[i], &mask, NULL) && mask & request->cap_added)
                        return args->cap_drop->pdata[i];
        }
        return NULL;
}

/* Namespaces of the machine's, and what can only be said of a container's own. Podman's rules, but the last: there a
 * user namespace sees the machine's whole /proc. */
static bool check_host_namespaces(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                                  GError **error) {
        if (request->pid.host && request->init)
                return conflict(ret, "init", "pid", error, "with --pid=host another program is the first process");
        for (guint i = 0; i < request->sysctls->len && request->ipc.host; i++) {
                const Sysctl *sysctl = request->sysctls->pdata[i];

                if (sysctl->ns == SYSCTL_IPC) {
                        error_set(error, KT_ERROR_USAGE,
                                  "with --ipc=host '%s' is the whole machine's: set it with sysctl.d(5)",
                                  sysctl->name);
                        return name_conflict(ret, "sysctl", find_sysctl(args, sysctl->name), "ipc", error);
                }
        }
        return !(request->pid.host || request->ipc.host) || request->userns.mode == USERNS_HOST ||
               conflict(ret, request->pid.host ? "pid" : "ipc", "userns", error,
                        "'host' is not supported with a user namespace: leave out one of the two");
}

/* Podman gives it all of that, whatever else is asked for. Here no container has more than its file says. */
static bool check_privileged(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                             GError **error) {
        if (!request->privileged)
                return true;
        if (args->cap_drop->len > 0)
                return conflict(ret, "cap-drop", "privileged", error,
                                "--privileged means all capabilities: leave out one of the two");
        if (label_request_has_parts(&request->label))
                return conflict(ret, "security-opt", "privileged", error,
                                "--privileged means no SELinux label: leave out one of the two");
        return request->userns.mode == USERNS_HOST ||
               conflict(ret, "privileged", "userns", error,
                        "no devices are given in a user namespace: leave out one of the two, or name the devices in "
                        "AddDevice= and the capabilities in AddCapability=");
}

/* What libstart would do as root where the user may put something else. */
static bool check_owner(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                        GError **error) {
        if (!request->userns.owner)
                return true;
        for (guint i = 0; i < request->mounts->len; i++) {
                const MountRequest *mount = request->mounts->pdata[i];

                if (mount->type == MOUNT_BIND && mount->chown)
                        return conflict(ret, "volume", "owner", error,
                                        "'U' would give a directory of the host away, which root would have to do: "
                                        "make it the user's, by chown or tmpfiles.d(5)");
        }
        if (request->id_file)
                return conflict(ret, "cidfile", "owner", error, "a container that belongs to a user writes no file");
        if (request->log_path)
                return conflict(ret, "log-opt", "owner", error,
                                "a container that belongs to a user writes no file: leave path= out");
        return !args->health_log_destination || args->health_log_destination[0] != '/' ||
               conflict(ret, "health-log-destination", "owner", error,
                        "a container that belongs to a user writes no file: the journal has the results");
}

/* No check at all is fine: the image may have one. */
static bool check_health(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        const HealthRequest *health = &request->health;
        bool is_none = health->regular.text && health_command_is_none(health->regular.text);

        if (health->off && health->regular.text && !is_none)
                return conflict(ret, "health-cmd", "no-healthcheck", error,
                                "--no-healthcheck is given, too: leave out one of the two");
        if (!health->off && !is_none)
                return true;
        if (health->startup.text)
                return conflict(ret, "health-startup-cmd", "health-cmd", error,
                                "there is no regular check that it would be followed by: set HealthCmd=");
        return request->notify != NOTIFY_HEALTHY ||
               conflict(ret, "sdnotify", "health-cmd", error,
                        "there is no health check that would succeed: set HealthCmd=");
}

static bool check_runtime(const LaunchArgs *args, const ContainerRequest *request, LaunchConflict *ret,
                          GError **error) {
        const char *option;

        return !request->runtime || runtime_rules_check(args, request, &option, error) ||
               name_conflict(ret, option, NULL, "runtime-program", error);
}

static bool check_names(const ContainerRequest *request, LaunchConflict *ret, GError **error) {
        const char *dns;

        if ((request->uts.path || request->uts.host) && request->hostname)
                return conflict(ret, "hostname", "uts", error,
                                "the host name is that of the namespace which --uts names");
        if (request->no_hosts && request->hosts->len > 0)
                return conflict(ret, "add-host", "no-hosts", error,
                                "with --no-hosts the file is the image's: leave out one of the two");
        return dns_request_check(&request->dns, request->network.mode, &dns, error) ||
               name_conflict(ret, dns, NULL, "network", error);
}

static bool check_together(const LaunchArgs *args, ContainerRequest *request, LaunchConflict *ret, GError **error) {
        if ((request->shm_path || request->ipc.host) && request->shm_size >= 0)
                return conflict(ret, "shm-size", request->shm_path ? "shm-path" : "ipc", error,
                                request->shm_path ? "--shm-path names a /dev/shm that there is" :
                                                    "--ipc=host means a /dev/shm that there is");
        if (request->log_path && request->log_driver != LOG_DRIVER_JOURNALD)
                return conflict(ret, "log-opt", "log-driver", error,
                                "path= needs the relay, which writes the file: leave the driver out");
        if (request->host_limits && args->ulimits->len > 1)
                return conflict(ret, "ulimit", "ulimit", error, "'host' excludes other ulimits");
        if (request->keep_groups && args->group_add->len > 1)
                return conflict(ret, "group-add", "group-add", error, USER_SPEC_KEEP_GROUPS " excludes other groups");
        if (!bounding_set_check(request->cap_added, request->cap_dropped, error))
                return name_conflict(ret, "cap-drop", find_added(args, request), "cap-add", error);
        if (!userns_request_choose(&request->userns, error))
                return name_conflict(ret, "userns", NULL, args->uidmaps->len > 0 ? "uidmap" : "owner", error);
        return check_owner(args, request, ret, error) && check_names(request, ret, error) &&
               check_health(request, ret, error) && check_privileged(args, request, ret, error) &&
               check_host_namespaces(args, request, ret, error) && check_runtime(args, request, ret, error);
}

static void request_init(const LaunchArgs *args, ContainerRequest *ret) {
        *ret = (ContainerRequest) {
                .image = args->image,
                .command = args->command,
                .http_proxy = true,
                .read_only_tmpfs = true,
                .groups = g_ptr_array_new_with_free_func(g_free),
                .mounts = g_ptr_array_new_with_free_func((GDestroyNotify) mount_request_free),
                .devices = g_ptr_array_new_with_free_func((GDestroyNotify) device_request_free),
                .device_rules = g_array_new(FALSE, FALSE, sizeof(DeviceRule)),
                .secrets = g_ptr_array_new_with_free_func((GDestroyNotify) secret_request_free),
                .shm_size = -1,
                .umask = 0022,
                .hosts = g_string_new(NULL),
                .masked = g_ptr_array_new_with_free_func(g_free),
                .unmasked = g_ptr_array_new_with_free_func(g_free),
                .ulimits = g_array_new(FALSE, FALSE, sizeof(Ulimit)),
                .sysctls = g_ptr_array_new_with_free_func((GDestroyNotify) sysctl_free),
        };
        health_request_init(&ret->health);
}

/* What Podman makes of options for which it asks nobody: SELinux keeps a container with a label of its own from the
 * machine's processes and their shared memory, so one that is to have these has none. */
static void complete(ContainerRequest *request) {
        request->unconfined |= request->privileged && !request->seccomp_profile;
        request->label.disable |= request->pid.host || request->ipc.host;
        if (request->ipc.host)
                request->shm_path = "/dev/shm";
}

static bool read_all(const LaunchArgs *args, bool (*reads)(const char *value), ContainerRequest *request,
                     LaunchConflict *ret, GError **error) {
        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].help && !read_option(args, request, &launch_options[i], reads, error)) {
                        ret->option = launch_options[i].name + strlen("--");
                        return false;
                }
        return check_together(args, request, ret, error);
}

static bool is_complete(const char *value) {
        return !strpbrk(value, "%$");
}

bool launch_args_check(const LaunchArgs *args, LaunchConflict *ret, GError **error) {
        g_auto(ContainerRequest) request = { 0 };

        *ret = (LaunchConflict) { 0 };
        request_init(args, &request);
        return read_all(args, is_complete, &request, ret, error);
}

bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error) {
        g_auto(ContainerRequest) request = { 0 };
        LaunchConflict unused;

        request_init(args, &request);
        if (!read_all(args, NULL, &request, &unused, error) || !userns_request_finish(&request.userns, error))
                return false;
        complete(&request);
        *ret = request;
        request = (ContainerRequest) { 0 };
        return true;
}
