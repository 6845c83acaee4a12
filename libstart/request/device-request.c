/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/device-request.h"

void device_request_free(DeviceRequest *request) {
        g_free(request->source);
        g_free(request->destination);
        g_free(request);
}

/* Those that people give to containers. The group is that of /proc/devices whose devices are all here, and nowhere
 * else. Any other directory is known by the slash at its end. */
static const struct {
        const char *path, *group;
} directories[] = {
        { "/dev", NULL },
        { "/dev/accel", "char-accel" },
        { "/dev/block", NULL },
        { "/dev/bus/usb", "char-usb_device" },
        { "/dev/char", NULL },
        { "/dev/cpu", NULL },
        { "/dev/disk", NULL },
        { "/dev/dma_heap", "char-dma_heap" },
        { "/dev/dri", "char-drm" },
        { "/dev/dvb", "char-DVB" },
        { "/dev/infiniband", NULL },
        { "/dev/input", "char-input" },
        { "/dev/mapper", NULL },
        { "/dev/net", NULL },
        { "/dev/nvidia-caps", "char-nvidia-caps" },
        { "/dev/serial", NULL },
        { "/dev/snd", "char-alsa" },
        { "/dev/usb", NULL },
        { "/dev/v4l", NULL },
        { "/dev/vfio", NULL },
};

static size_t find_directory(const char *path) {
        size_t i = 0;

        while (i < G_N_ELEMENTS(directories) && !g_str_equal(directories[i].path, path))
                i++;
        return i;
}

const char *device_request_group(const DeviceRequest *request) {
        size_t i = request->kind == DEVICE_DIRECTORY ? find_directory(request->source) : G_N_ELEMENTS(directories);

        return i < G_N_ELEMENTS(directories) ? directories[i].group : NULL;
}

static bool is_cdi_name(const char *source) {
        return source[0] != '/' && strchr(source, '/') && strchr(source, '=');
}

static bool consists_of(const char *text, size_t length, const char *more) {
        for (size_t i = 0; i < length; i++)
                if (!g_ascii_isalnum(text[i]) && (i == 0 || i + 1 == length || !strchr(more, text[i])))
                        return false;
        return length > 0;
}

/* VENDOR/CLASS=NAME, with the characters that the specification allows. */
static bool check_cdi_name(const char *name, GError **error) {
        const char *slash = strchr(name, '/'), *equals = strchr(name, '=');

        return (equals > slash && g_ascii_isalpha(name[0]) && g_ascii_isalpha(slash[1]) &&
                consists_of(name, (size_t) (slash - name), "_-.") &&
                consists_of(slash + 1, (size_t) (equals - slash - 1), "_-.") &&
                consists_of(equals + 1, strlen(equals + 1), "_-.:")) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no name of CDI: VENDOR/CLASS=NAME", name);
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

static bool set_cdi_source(DeviceRequest *request, const char *name, GError **error) {
        if (!check_cdi_name(name, error))
                return false;
        request->kind = DEVICE_CDI;
        request->source = g_strdup(name);
        return true;
}

static bool set_source(DeviceRequest *request, const char *source, bool unexpanded, GError **error) {
        g_autofree char *path = NULL;

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
        if (!g_str_has_prefix(path, "/dev/") && !g_str_equal(path, "/dev"))
                return error_set(error, KT_ERROR_USAGE, "'%s' is not below /dev: systemd allows no other devices",
                                 source);
        if (g_str_has_suffix(source, "/") || find_directory(path) < G_N_ELEMENTS(directories))
                request->kind = DEVICE_DIRECTORY;
        request->source = g_steal_pointer(&path);
        return true;
}

bool device_access_parse(const char *access, char ret[static 4]) {
        size_t length = strlen(access);

        if (length == 0 || length > 3 || access[strspn(access, "rwm")])
                return false;
        for (size_t i = 0; i < length; i++)
                if (strchr(access + i + 1, access[i]))
                        return false;
        memcpy(ret, access, length + 1);
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
        if (!parts[0] || (!parts[1] && device_access_parse(parts[0], request->access)))
                return true;
        if (parts[0][0] != '/' && !parts[1])
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is neither a path in the container, which begins with '/', nor permissions: "
                                 "some of r, w and m, each once",
                                 parts[0]);
        if (!set_destination(request, parts[0], unexpanded, error))
                return false;
        if (parts[1] && !device_access_parse(parts[1], request->access))
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
        if (is_cdi_name(value + optional))
                ok = set_cdi_source(request, value + optional, error);
        else if (n == 0 || n > 3)
                ok = error_set(error, KT_ERROR_USAGE, "the form is [-]SOURCE[:DESTINATION][:PERMISSIONS]");
        else
                ok = set_source(request, parts[0], unexpanded, error) &&
                     set_rest(request, parts + 1, unexpanded, error);
        if (!ok)
                return error_prefix_null(error, "device '%s': ", value);
        return g_steal_pointer(&request);
}

DeviceRequest *device_request_parse(const char *value, GError **error) {
        return parse(value, false, error);
}

DeviceRequest *device_request_parse_unexpanded(const char *value, GError **error) {
        if (!strchr(value, '$'))
                return parse(value, true, error);
        return error_null(
                error, KT_ERROR_UNSUPPORTED,
                "device '%s': systemd replaces no variables in DeviceAllow=, which the device needs; write the path "
                "itself, or with a specifier such as %%i",
                value);
}
