/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/process.h"
#include "libstart/oci/spec.h"
#include "libstart/program-start/program-bundle.h"
#include "libstart/service/own-cgroup.h"
#include "libstart/value/runtime-kind.h"

/* Of the specification: the first one with all that is in it. crun 1.8 refuses what is newer than itself. */
#define OCI_VERSION "1.0.2"

/* What is other than in the container's spec. Shallow copies. */
typedef struct Handed {
        runtime_spec_schema_config_schema spec;
        runtime_spec_schema_config_linux linux_;
        runtime_spec_schema_config_schema_hooks hooks;
        runtime_spec_schema_config_linux_resources resources;
        runtime_spec_schema_defs_linux_device_cgroup all, *devices[1];
} Handed;

/* Which devices may be used is the unit's affair, or device-guard.h's. Without a rule runc would forbid those that
 * the container was given. */
static void allow_devices(Handed *handed) {
        handed->all = (runtime_spec_schema_defs_linux_device_cgroup) {
                .allow = true,
                .allow_present = true,
                .access = (char *) "rwm",
        };
        handed->devices[0] = &handed->all;
        handed->resources.devices = handed->devices;
        handed->resources.devices_len = 1;
        handed->linux_.resources = &handed->resources;
}

/* The hooks after the end are run by libstart (hook/oci-hooks.h), once. */
static void take_hooks(Handed *handed, const runtime_spec_schema_config_schema *spec) {
        if (!spec->hooks)
                return;
        handed->hooks = *spec->hooks;
        handed->hooks.poststop_len = 0;
        handed->spec.hooks = &handed->hooks;
}

static void hand(const RuntimeContainer *container, char *cgroup, Handed *ret) {
        *ret = (Handed) {
                .spec = *container->spec,
                .linux_ = *container->spec->linux,
        };
        ret->spec.oci_version = (char *) OCI_VERSION;
        ret->spec.linux = &ret->linux_;
        take_hooks(ret, container->spec);
        if (!cgroup)
                return;
        ret->linux_.cgroups_path = cgroup;
        allow_devices(ret);
}

/* runc knows no container without a control group of its own: it gets one below the service's, whose limits hold
 * there. */
static bool find_cgroup(RuntimeKind kind, char **ret, GError **error) {
        g_autofree char *own = NULL;

        if (kind == RUNTIME_CRUN || kind == RUNTIME_RUNSC)
                return true;
        own = process_find_cgroup(0);
        if (!own)
                return error_set(error, KT_ERROR_FAILED, "Cannot find the service's control group");
        *ret = g_build_filename(own, OWN_CGROUP, NULL);
        return true;
}

bool program_bundle_write(const RuntimeContainer *container, const char *directory, GError **error) {
        g_autofree char *path = g_build_filename(directory, "config.json", NULL), *cgroup = NULL;
        _cleanup_close_ int fd = -1;
        Handed handed;

        if (!find_cgroup(runtime_kind_find(container->request->runtime), &cgroup, error))
                return false;
        if (mkdir(directory, 0711) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", directory);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return error_set_errno(error, errno, "Cannot write '%s'", path);
        hand(container, cgroup, &handed);
        return spec_write_json(&handed.spec, container->environment, fd, error);
}
