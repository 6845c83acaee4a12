/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/runtime-rules.h"
#include "libstart/base/error.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/runtime-kind.h"

typedef struct Rule {
        const char *option;
        bool broken;
        const char *why;
} Rule;

static bool check(const Rule *rules, size_t n, const char *runtime, const char **ret_option, GError **error) {
        for (size_t i = 0; i < n; i++)
                if (rules[i].broken) {
                        *ret_option = rules[i].option;
                        return error_set(error, KT_ERROR_UNSUPPORTED, "not with '%s' as its runtime: %s", runtime,
                                         rules[i].why);
                }
        return true;
}

static bool is_shared(const ContainerRequest *request) {
        for (guint i = 0; i < request->mounts->len; i++)
                if (mount_request_has_option(request->mounts->pdata[i], "shared") ||
                    mount_request_has_option(request->mounts->pdata[i], "rshared"))
                        return true;
        return false;
}

static bool is_confined(const ContainerRequest *request) {
        return request->apparmor || label_request_has_parts(&request->label) || request->label.nested ||
               request->masked->len > 0;
}

#define SANDBOX "gVisor's sandbox "

/* What gVisor knows nothing of, or leaves to the kernel in its sandbox. */
static bool check_sandbox(const ContainerRequest *request, const char **ret_option, GError **error) {
        const Rule rules[] = {
                { "device", request->devices->len > 0, SANDBOX "has no devices of the machine's" },
                { "device-cgroup-rule", request->device_rules->len > 0, SANDBOX "has no devices of the machine's" },
                { "privileged", request->privileged, SANDBOX "has no devices of the machine's, nor its kernel" },
                { "security-opt", is_confined(request),
                  SANDBOX "knows neither AppArmor nor SELinux, and masks what it wants itself; leave out AppArmor=, "
                          "Mask= and SecurityLabel...=" },
                { "sysctl", request->sysctls->len > 0, SANDBOX "has a kernel of its own, without these settings" },
                { "sdnotify", request->notify == NOTIFY_CONTAINER,
                  "what is in " SANDBOX "cannot reach systemd; a health check can say when it is ready "
                  "(Notify=healthy)" },
                { "pid", request->pid.host, SANDBOX "has processes of its own" },
                { "ipc", request->ipc.host || request->ipc.path, SANDBOX "has an IPC of its own" },
                { "uts", request->uts.host || request->uts.path, SANDBOX "has a host name of its own" },
                { "shm-path", request->shm_path, SANDBOX "has an IPC of its own" },
                { "userns", request->userns.mode != USERNS_HOST,
                  SANDBOX "is in a user namespace of gVisor's choice; leave it out" },
                { "systemd", request->systemd == SYSTEMD_ALWAYS,
                  SANDBOX "has no control groups that an init could manage" },
        };

        return check(rules, G_N_ELEMENTS(rules), request->runtime, ret_option, error);
}

bool runtime_rules_check(const LaunchArgs *args, const ContainerRequest *request, const char **ret_option,
                         GError **error) {
        const Rule rules[] = {
                { "owner", args->owner, "only crun's library starts containers of users" },
                { "dynamic-user", request->userns.is_dynamic, "only crun's library starts containers of nobody's" },
                { args->mounts->len > 0 && args->volumes->len == 0 ? "mount" : "volume", is_shared(request),
                  "mounts in the container cannot be shared with the machine; use slave or private propagation" },
        };

        return check(rules, G_N_ELEMENTS(rules), request->runtime, ret_option, error) &&
               (runtime_kind_find(request->runtime) != RUNTIME_RUNSC || check_sandbox(request, ret_option, error));
}
