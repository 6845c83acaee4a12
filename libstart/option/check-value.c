/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/option/annotation.h"
#include "libstart/option/capability.h"
#include "libstart/option/check-value.h"
#include "libstart/option/device-request.h"
#include "libstart/option/host-entry.h"
#include "libstart/option/log-option.h"
#include "libstart/option/mount-request.h"
#include "libstart/option/network-mode.h"
#include "libstart/option/notify-mode.h"
#include "libstart/option/security-option.h"
#include "libstart/option/signal-name.h"
#include "libstart/option/size.h"
#include "libstart/option/storage-option.h"
#include "libstart/option/sysctl.h"
#include "libstart/option/ulimit.h"
#include "libstart/option/user-spec.h"

/* Podman's rule. The name also is one of a directory and of libcrun's state. */
bool check_name(const char *value, GError **error) {
        bool ok = g_ascii_isalnum(value[0]);

        for (const char *c = value; *c && ok; c++)
                ok = g_ascii_isalnum(*c) || strchr("_.-", *c);
        if (!ok)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name of a container: letters, digits, '_', '.' and '-', the "
                                 "first of them a letter or digit",
                                 value);
        return true;
}

/* sethostname(2) takes 64 bytes. The name also stands in /etc/hosts, between blanks. */
bool check_hostname(const char *value, GError **error) {
        bool ok = value[0] && value[0] != '-' && strlen(value) <= 64;

        for (const char *c = value; *c && ok; c++)
                ok = g_ascii_isalnum(*c) || strchr("_.-", *c);
        if (!ok)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no host name: 1 to 64 letters, digits, '.', '-' and '_'", value);
        return true;
}

bool check_annotation(const char *value, GError **error) {
        return annotation_check(value, error);
}

bool check_user(const char *value, GError **error) {
        return user_spec_parse(value, NULL, NULL, error);
}

bool check_group_add(const char *value, GError **error) {
        g_auto(GStrv) groups = user_spec_parse_groups(value, error);

        return groups;
}

bool check_absolute_path(const char *value, GError **error) {
        return path_value_check(value, error);
}

/* NAME=VALUE, NAME or PREFIX*; podman takes blanks in front. The value may be secret and is never
 * printed. */
bool check_env(const char *value, GError **error) {
        value += strspn(value, " \t");
        if (value[0] == '\0' || value[0] == '=')
                return error_set(error, KT_ERROR_USAGE, "an environment variable needs a name before '='");
        return true;
}

static bool check_mount_request(MountRequest *request) {
        bool ok = request;

        mount_request_free(request);
        return ok;
}

bool check_volume(const char *value, GError **error) {
        return check_mount_request(mount_request_parse_volume(value, error));
}

bool check_mount(const char *value, GError **error) {
        return check_mount_request(mount_request_parse_mount(value, error));
}

bool check_tmpfs(const char *value, GError **error) {
        return check_mount_request(mount_request_parse_tmpfs(value, error));
}

bool check_add_host(const char *value, GError **error) {
        return host_entry_append(NULL, value, error);
}

bool check_device(const char *value, GError **error) {
        g_autoptr(DeviceRequest) request = device_request_parse(value, error);

        return request;
}

bool check_size(const char *value, GError **error) {
        guint64 bytes;

        return size_parse(value, &bytes, error);
}

bool check_storage_opt(const char *value, GError **error) {
        StorageLimits limits = { 0 };

        return storage_option_parse(value, &limits, error);
}

bool check_network(const char *value, GError **error) {
        NetworkMode mode;

        return network_mode_parse(value, &mode, error);
}

bool check_capability(const char *value, GError **error) {
        guint64 mask;

        return capability_parse(value, &mask, error);
}

bool check_security_opt(const char *value, GError **error) {
        SecurityOption option;

        return security_option_parse(value, &option, error);
}

bool check_ulimit(const char *value, GError **error) {
        Ulimit ulimit;

        return ulimit_parse(value, &ulimit, error);
}

bool check_sysctl(const char *value, GError **error) {
        return sysctl_parse(value, NULL, NULL, error);
}

bool check_log_driver(const char *value, GError **error) {
        LogDriver driver;

        return log_driver_parse(value, &driver, error);
}

bool check_log_opt(const char *value, GError **error) {
        const char *tag;

        return log_option_parse(value, &tag, error);
}

bool check_sdnotify(const char *value, GError **error) {
        NotifyMode mode;

        return notify_mode_parse(value, &mode, error);
}

bool check_signal(const char *value, GError **error) {
        int number;

        return signal_name_parse(value, &number, error);
}

/* A name below the host's zones. Without dots, of which no zone has one, none leads out of there. */
bool check_timezone(const char *value, GError **error) {
        bool ok = g_ascii_isalnum(value[0]);

        for (const char *c = value; *c && ok; c++)
                ok = g_ascii_isalnum(*c) || strchr("_-+/", *c);
        if (!ok)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no name of a time zone, e.g. Europe/Berlin; or local, for the host's",
                                 value);
        return true;
}
