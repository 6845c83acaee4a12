/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

#include "libstart/cdi/cdi-search.h"
#include "libstart/oci/mount-plan.h"
#include "libstart/request/request.h"

/* What the files of CDI say that the devices of a request need. All zero: nothing. */
typedef struct CdiDevices {
        CdiSearch *search;
        GPtrArray *edits; /* of const CdiEdits*, or NULL */
} CdiDevices;

/* For a request without a name of CDI nothing is read. */
bool cdi_devices_find(const ContainerRequest *request, CdiDevices *ret, GError **error);
void cdi_devices_clear(CdiDevices *devices);

/* Appends their nodes (DeviceNode), which belong to that user and group where the file does not say whom. */
bool cdi_devices_add_nodes(const CdiDevices *devices, guint32 uid, guint32 gid, GPtrArray *nodes, GError **error);

/* Adds the rest to the spec, but hooks (hook/oci-hooks.h) and variables (oci/environment.h). mounts: what its mounts
 * are printed from. */
void cdi_devices_apply(const CdiDevices *devices, MountPlan *mounts, runtime_spec_schema_config_schema *spec);
