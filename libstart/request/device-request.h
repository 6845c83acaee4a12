/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum DeviceKind {
        DEVICE_NODE,
        DEVICE_DIRECTORY, /* all nodes below it; it is known by its name, or by a slash at its end */
        DEVICE_CDI,       /* VENDOR/CLASS=NAME, of the Container Device Interface */
} DeviceKind;

/* What a container is to have of the host's devices: --device of podman-run(1). The '-' in front is Quadlet's. */
typedef struct DeviceRequest {
        DeviceKind kind;
        char *source;      /* below /dev, without "." and ".."; or the name of CDI */
        char *destination; /* absolute, likewise; NULL: the same as on the host, links followed */
        char access[4];    /* some of "rwm" */
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

/* What systemd calls all devices of a directory in DeviceAllow= ("char-input"); NULL where it has no one name for
 * just these, so that nobody can allow them before the start. */
const char *device_request_group(const DeviceRequest *request);

/* Some of r, w and m, each once. */
bool device_access_parse(const char *access, char ret[static 4]);
