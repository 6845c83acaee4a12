/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/option/capability.h"
#include "libstart/option/device-request.h"
#include "libstart/option/device-rule.h"
#include "libstart/option/launch-option.h"
#include "libstart/option/launch-request.h"
#include "libstart/option/mount-request.h"
#include "libstart/option/secret-request.h"
#include "libstart/option/sysctl.h"
#include "libstart/option/ulimit.h"
#include "libstart/option/user-spec.h"

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

/* Namespaces of the machine's, and what can only be said of a container's own. Podman's rules, but the last: there a
 * user namespace sees the machine's whole /proc. */
static bool check_host_namespaces(const ContainerRequest *request, GError **error) {
        if (request->pid.host && request->init)
                return error_set(error, KT_ERROR_USAGE,
                                 "--init: with --pid=host another program is the first process");
        for (guint i = 0; i < request->sysctls->len && request->ipc.host; i++) {
                const Sysctl *sysctl = request->sysctls->pdata[i];

                if (sysctl->ns == SYSCTL_IPC)
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "--sysctl: with --ipc=host '%s' is the whole machine's: set it with sysctl.d(5)",
                                sysctl->name);
        }
        return !(request->pid.host || request->ipc.host) || request->userns.mode == USERNS_HOST ||
               error_set(
                       error, KT_ERROR_UNSUPPORTED,
                       "--pid=host and --ipc=host are not supported with a user namespace: leave out one of the two");
}

static bool check_together(const LaunchArgs *args, ContainerRequest *request, GError **error) {
        if ((request->uts.path || request->uts.host) && request->hostname)
                return error_set(error, KT_ERROR_USAGE,
                                 "--hostname: the host name is that of the namespace which --uts names");
        if (request->no_hosts && request->hosts->len > 0)
                return error_set(error, KT_ERROR_USAGE,
                                 "--no-hosts: there is an --add-host, too: leave out one of the two");
        if ((request->shm_path || request->ipc.host) && request->shm_size >= 0)
                return error_set(error, KT_ERROR_USAGE, "--shm-size: %s a /dev/shm that there is",
                                 request->shm_path ? "--shm-path names" : "--ipc=host means");
        if (request->host_limits && args->ulimits->len > 1)
                return error_set(error, KT_ERROR_USAGE, "--ulimit: 'host' excludes other ulimits");
        if (request->privileged && args->cap_drop->len > 0)
                return error_set(
                        error, KT_ERROR_USAGE,
                        "--privileged means all capabilities, and --cap-drop drops some: leave out one of them");
        if (request->keep_groups && args->group_add->len > 1)
                return error_set(error, KT_ERROR_USAGE,
                                 "--group-add: " USER_SPEC_KEEP_GROUPS " excludes other groups");
        if (!dns_request_check(&request->dns, request->network.mode, error)) {
                g_prefix_error(error, "--dns, --dns-search or --dns-option: ");
                return false;
        }
        return health_request_check(&request->health, error) &&
               bounding_set_check(request->cap_added, request->cap_dropped, error) &&
               userns_request_finish(&request->userns, error) && check_host_namespaces(request, error);
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
                     GError **error) {
        for (size_t i = 0; i < n_launch_options; i++)
                if (launch_options[i].help && !read_option(args, request, &launch_options[i], reads, error))
                        return false;
        return check_together(args, request, error);
}

static bool is_complete(const char *value) {
        return !strpbrk(value, "%$");
}

bool launch_args_check(const LaunchArgs *args, GError **error) {
        g_auto(ContainerRequest) request = { 0 };

        request_init(args, &request);
        return read_all(args, is_complete, &request, error);
}

bool launch_args_read(const LaunchArgs *args, ContainerRequest *ret, GError **error) {
        g_auto(ContainerRequest) request = { 0 };

        request_init(args, &request);
        if (!read_all(args, NULL, &request, error))
                return false;
        complete(&request);
        *ret = request;
        request = (ContainerRequest) { 0 };
        return true;
}
