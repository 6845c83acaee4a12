/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/option/device-request.h"

void device_request_free(DeviceRequest *request) {
        if (!request)
                return;
        g_free(request->source);
        g_free(request->destination);
        g_free(request);
}

bool device_request_refuse_directory(const char *path, GError **error) {
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is a directory: name those of its devices that the container is to have, one by one, "
                         "as systemd's DeviceAllow= needs them",
                         path);
}

/* Those that people give to containers: told when the unit is made, rather than when it is started. */
static bool is_known_directory(const char *path) {
        static const char *const directories[] = {
                "/dev/bus/usb", "/dev/disk",   "/dev/dri", "/dev/input", "/dev/mapper",
                "/dev/net",     "/dev/serial", "/dev/snd", "/dev/v4l",   NULL,
        };

        return g_strv_contains(directories, path);
}

/* VENDOR/CLASS=NAME, of the Container Device Interface. */
static bool is_cdi_name(const char *source) {
        return source[0] != '/' && strchr(source, '/') && strchr(source, '=');
}

/* udev makes no such names. systemd 257 does not start a service whose DeviceAllow= has a blank in the path, and no
 * version reads the escapes of other such characters there. */
static bool has_blank(const char *path) {
        for (const char *c = path; *c; c++)
                if (*c == ' ' || g_ascii_iscntrl(*c))
                        return true;
        return false;
}

/* Where specifiers have still to be replaced, ".." may be behind one. */
static char *clean(const char *path) {
        return strchr(path, '%') ? g_strdup(path) : path_value_clean(path);
}

static bool set_source(DeviceRequest *request, const char *source, bool unexpanded, GError **error) {
        g_autofree char *path = NULL;

        if (is_cdi_name(source))
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "'%s' is a name of CDI, whose files are not read: name the device's nodes (/dev/...), "
                        "and mount with Volume= what else it needs",
                        source);
        if (has_blank(source))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': blanks do not work in systemd's DeviceAllow=; have udev name the device "
                                 "otherwise",
                                 source);
        if (unexpanded && g_str_has_prefix(source, "%f")) { /* the instance's name as a path */
                request->source = g_strdup(source);
                return true;
        }
        if (!path_value_check(source, error))
                return false;
        path = unexpanded ? clean(source) : path_value_clean(source);
        if (!g_str_has_prefix(path, "/dev/"))
                return error_set(error, KT_ERROR_USAGE, "'%s' is not below /dev: systemd allows no other devices",
                                 source);
        if (is_known_directory(path))
                return device_request_refuse_directory(path, error);
        request->source = g_steal_pointer(&path);
        return true;
}

static bool set_access(DeviceRequest *request, const char *access) {
        size_t length = strlen(access);

        if (length == 0 || length >= sizeof request->access || access[strspn(access, "rwm")])
                return false;
        for (size_t i = 0; i < length; i++)
                if (strchr(access + i + 1, access[i]))
                        return false;
        memcpy(request->access, access, length + 1);
        return true;
}

static bool set_destination(DeviceRequest *request, const char *destination, bool unexpanded, GError **error) {
        if (!path_value_check(destination, error))
                return false;
        request->destination = unexpanded ? clean(destination) : path_value_clean(destination);
        if (g_str_equal(request->destination, "/"))
                return error_set(error, KT_ERROR_USAGE, "the destination cannot be '/'");
        return true;
}

/* What is behind the source. */
static bool set_rest(DeviceRequest *request, char *const *parts, bool unexpanded, GError **error) {
        if (!parts[0] || (!parts[1] && set_access(request, parts[0])))
                return true;
        if (parts[0][0] != '/' && !parts[1])
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is neither a path in the container, which begins with '/', nor permissions: "
                                 "some of r, w and m, each once",
                                 parts[0]);
        if (!set_destination(request, parts[0], unexpanded, error))
                return false;
        if (parts[1] && !set_access(request, parts[1]))
                return error_set(error, KT_ERROR_USAGE, "'%s' are no permissions: some of r, w and m, each once",
                                 parts[1]);
        return true;
}

static DeviceRequest *parse(const char *value, bool unexpanded, GError **error) {
        g_autoptr(DeviceRequest) request = g_new0(DeviceRequest, 1);
        bool optional = value[0] == '-', ok;
        g_auto(GStrv) parts = g_strsplit(value + optional, ":", -1);
        guint n = g_strv_length(parts);

        request->optional = optional;
        memcpy(request->access, "rwm", sizeof request->access);
        if (n == 0 || n > 3)
                ok = error_set(error, KT_ERROR_USAGE, "the form is [-]SOURCE[:DESTINATION][:PERMISSIONS]");
        else
                ok = set_source(request, parts[0], unexpanded, error) &&
                     set_rest(request, parts + 1, unexpanded, error);
        if (!ok) {
                g_prefix_error(error, "device '%s': ", value);
                return NULL;
        }
        return g_steal_pointer(&request);
}

DeviceRequest *device_request_parse(const char *value, GError **error) {
        return parse(value, false, error);
}

DeviceRequest *device_request_parse_unexpanded(const char *value, GError **error) {
        if (!strchr(value, '$'))
                return parse(value, true, error);
        error_set(
                error, KT_ERROR_UNSUPPORTED,
                "device '%s': systemd replaces no variables in DeviceAllow=, which the device needs; write the path "
                "itself, or with a specifier such as %%i",
                value);
        return NULL;
}
