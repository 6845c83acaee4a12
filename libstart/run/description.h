/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/spec.h"
#include "libstart/run/cdi-devices.h"
#include "libstart/run/environment-files.h"
#include "libstart/service/host.h"

/* A container as an OCI specification, with what that is made of. All zero: nothing. */
typedef struct Description {
        EnvironmentFiles files; /* `owned` has what else the environment needs */
        CdiDevices cdi;
        guint64 capabilities; /* of the bounding set: what a filter is needed for */
        char **environment;   /* the payload's whole, NULL-terminated */
        MountPlan *mounts;    /* what the spec's are printed from */
        runtime_spec_schema_config_schema *spec;
} Description;

/* Reads and looks up what is missing in the input, and in what the host has: devices. */
bool description_make(SpecInput *input, Host *host, Description *ret, GError **error);

/* What hooks make of it. bundle: as in oci-hooks.h. */
bool description_apply_hooks(Description *description, const ContainerRequest *request, const char *bundle,
                             GError **error);

void description_clear(Description *description);
