/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/devices.h"
#include "generator/parts/hooks.h"
#include "generator/parts/kernel-control.h"
#include "libstart/request/device-request.h"
#include "libstart/value/unit-words.h"

static bool check(const char *value, GError **error) {
        g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(value, error);

        return request;
}

bool handle_add_device(Conversion *container, const Key *key, const Value *value, GError **error) {
        return check(value->text, error) && key_set_option(container, "device", value->text, error);
}

bool devices_check(const LaunchArgs *args, GError **error) {
        for (guint i = 0; i < args->devices->len; i++)
                if (!check(args->devices->pdata[i], error))
                        return false;
        return true;
}

bool devices_have_cdi(const LaunchArgs *args) {
        bool found = false;

        for (guint i = 0; i < args->devices->len && !found; i++) {
                g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(args->devices->pdata[i], NULL);

                found = request && request->kind == DEVICE_CDI;
        }
        return found;
}

static bool is_known_ahead(const char *value) {
        g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(value, NULL);

        return request->kind == DEVICE_NODE || device_request_group(request);
}

/* What systemd cannot be told before the start: the value that says so, or NULL. */
static const char *find_unknown(const LaunchArgs *args) {
        for (guint i = 0; i < args->devices->len; i++)
                if (!is_known_ahead(args->devices->pdata[i]))
                        return args->devices->pdata[i];
        return args->device_rules->len > 0 ? args->device_rules->pdata[0] : NULL;
}

static const char *find_unknown_of(const Conversion *container) {
        const char *unknown = find_unknown(container->args);

        return unknown || !hooks_may_add_devices(container) ? unknown : "a precreate hook";
}

/* All programs that forbid devices must agree: what systemd forbids, nobody can allow. */
static void refuse_users(Conversion *container, const char *unknown) {
        static const char *const keys[] = { "DeviceAllow", "DevicePolicy" };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                const UnitLine *line = service_user_line(container->service, keys[i]);

                if (line && !g_str_equal(line->value, "auto"))
                        conversion_problem(
                                container, line,
                                "with this, systemd would forbid what the start finds for '%s': remove it, and "
                                "allow more with PodmanArgs=--device-cgroup-rule=",
                                unknown);
        }
}

/* systemd allows all, and libstart forbids. */
static void guard(Conversion *container, const char *unknown) {
        refuse_users(container, unknown);
        container->args->guard_devices = FLAG_TRUE;
        service_comment(
                container->service,
                "DevicePolicy=auto: libstart itself forbids other devices, as '%s' is known at the start only.",
                unknown);
}

/* systemd resolves the path when it starts the service, follows links, and skips a device that is missing. A group
 * holds also those that come later. */
static void allow(Conversion *container, const char *value) {
        g_autoptr(DeviceRequest) request = device_request_parse_unexpanded(value, NULL);
        const char *group = device_request_group(request);
        g_autoptr(GString) line = g_string_new(NULL);

        unit_words_add(line, group ? group : request->source);
        unit_words_add(line, request->access);
        service_set(container->service, "DeviceAllow", line->str);
}

/* No device but the harmless ones, as with Podman, whatever node a payload makes or a volume has. A DeviceAllow= of
 * the user's adds to them. */
void devices_service(Conversion *container) {
        const LaunchArgs *args = container->args;
        const UnitLine *policy = service_user_line(container->service, "DevicePolicy");
        bool is_privileged = args->privileged == FLAG_TRUE;
        const char *unknown = is_privileged ? NULL : find_unknown_of(container);

        if (unknown)
                guard(container, unknown);
        if (!is_privileged && !(policy && g_str_equal(policy->value, "auto")))
                container->limits.controls |= KERNEL_CONTROL_DEVICES;
        if (!policy)
                service_set(container->service, "DevicePolicy", is_privileged || unknown ? "auto" : "closed");
        for (guint i = 0; i < args->devices->len && !is_privileged && !unknown; i++)
                allow(container, args->devices->pdata[i]);
}
