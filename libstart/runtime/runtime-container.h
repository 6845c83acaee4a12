/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/mount/mount-label.h"
#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"
#include "libstart/runtime/exec-report.h"
#include "libstart/runtime/timing.h"
#include "libstart/userns/user-namespace.h"

/* All that runtime_run() is told of a container. */
typedef struct RuntimeContainer {
        const char *state_root; /* libcrun's directory: the container's own on /run. Who made it removes it */
        const char *id;         /* name of the container */
        runtime_spec_schema_config_schema *spec;
        MountPlan *mounts;  /* what the spec's are printed from */
        char **environment; /* the payload's, complete; libcrun's own handling of it is not used */
        GBytes *filter;     /* seccomp, raw BPF; NULL is unconfined */
        int layer_mount;    /* detached mount to put on layer_place, first; or -1 */
        const char *layer_place;
        MountLabel label;    /* of the file systems that are mounted for it */
        int root_mount;      /* the same, to put on the spec's root.path */
        bool root_is_shared; /* a directory of the host's, in which others may write, too */
        int secrets_mount;   /* the same as root_mount, to put on secrets_place */
        const char *secrets_place;
        const ContainerRequest *request; /* for the mounts */
        const UserNamespace *userns;
        const int *cgroup;  /* open on the one that the payload begins in; NULL: libstart's own */
        int preserve_fds;   /* descriptors from 3 on that the payload inherits */
        ExecReport *report; /* its writer sits on descriptor 3 + preserve_fds */
        Timing *timing;
        bool keep_groups; /* libstart's own, instead of the spec's */
} RuntimeContainer;
