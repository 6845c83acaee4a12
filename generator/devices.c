/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/devices.h"
#include "libstart/option/device-request.h"

bool handle_add_device(Container *container, const Key *key, const Value *value, GError **error) {
        g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(value->text, error);

        return request && key_set_option(container, "device", value->text, error);
}

bool devices_check(const LaunchArgs *args, GError **error) {
        for (guint i = 0; i < args->devices->len; i++) {
                g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(args->devices->pdata[i], error);

                if (!request)
                        return false;
        }
        return true;
}

/* systemd resolves the path when it starts the service, follows links, and skips a device that is missing. */
void devices_service(Container *container) {
        const GPtrArray *devices = container->args->devices;

        for (guint i = 0; i < devices->len; i++) {
                g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(devices->pdata[i], NULL);
                g_autoptr(GString) value = g_string_new(NULL);

                launch_args_append_word(value, request->source);
                launch_args_append_word(value, request->access);
                service_set(container->service, "DeviceAllow", value->str);
        }
}
