/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* One device of the host that a container is to have: --device of podman-run(1). The '-' in front is Quadlet's. */
typedef struct DeviceRequest {
        char *source;      /* below /dev, without "." and ".." */
        char *destination; /* absolute, likewise; NULL: the same as on the host, links followed */
        char access[4];    /* some of "rwm", for DeviceAllow= */
        bool optional;     /* where the host has no such device, the container has none */
} DeviceRequest;

void device_request_free(DeviceRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DeviceRequest, device_request_free)

/* [-]SOURCE[:DESTINATION][:PERMISSIONS]. Fails with KT_ERROR_USAGE, or with KT_ERROR_UNSUPPORTED and what to do
 * instead. Transfer full. */
DeviceRequest *device_request_parse(const char *value, GError **error);

/* The same for a value in which systemd has still to replace specifiers: where there are any, the paths are as they
 * were written. What it is to replace only in ExecStart= is refused, as DeviceAllow= needs the path, too. */
DeviceRequest *device_request_parse_unexpanded(const char *value, GError **error);

/* Sets the error for a source that is a directory; always false. */
bool device_request_refuse_directory(const char *path, GError **error);
