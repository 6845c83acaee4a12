/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"

/* The hooks of a container: programs of the administrator's that are run as root, and are told what the container is.
 * Their files are read again at each start; which of them are for it, hook-choice.h knows. */
typedef struct OciHooks {
        const ContainerRequest *request;
        MountPlan *mounts;    /* what the spec's are printed from: it follows what a hook makes of them */
        const GPtrArray *cdi; /* of const CdiEdits*: what else needs hooks; or NULL */
        const char *bundle;   /* the directory that they are told of; its config.json is written here */
} OciHooks;

/* Runs the precreate hooks, each of which can replace the spec, and puts those that are run later into it. For a
 * request without hooks it does nothing. *environment is the payload's, which is not in the spec; where a hook
 * changes it, it is replaced by an array of strings that belong to the spec. */
bool oci_hooks_apply(const OciHooks *hooks, runtime_spec_schema_config_schema **spec, char ***environment,
                     GError **error);

/* Runs the poststop hooks of a container that has ended, whose bundle is still there. One that fails does not keep
 * the others from being run; its error is logged. False if there was one. */
bool oci_hooks_poststop(const char *bundle, const char *id);
