/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/cgroup-conf.h"
#include "generator/parts/cgroup-limits.h"
#include "generator/unit/keys.h"
#include "libstart/base/error.h"
#include "libstart/value/size.h"

char *cgroup_convert_size(const char *value, GError **error) {
        guint64 bytes;

        return size_parse(value, &bytes, error) ? g_strdup_printf("%" G_GUINT64_FORMAT, bytes) : NULL;
}

static char *convert_bytes(const char *value, GError **error) {
        return g_str_equal(value, "max") ? g_strdup("infinity") : cgroup_convert_size(value, error);
}

static char *convert_weight(const char *value, GError **error) {
        const char *number = value + (g_str_has_prefix(value, "default ") ? strlen("default ") : 0);

        if (g_ascii_string_to_unsigned(number, 10, 1, 10000, NULL, NULL))
                return g_strdup(number);
        return error_null(error, KT_ERROR_USAGE, "'%s' is no weight from 1 to 10000", value);
}

static char *convert_numbers(const char *value, GError **error) {
        if (value[0] && strspn(value, "0123456789-") == strlen(value))
                return g_strdup(value);
        return error_null(error, KT_ERROR_USAGE, "'%s' is no number, and no range as in 0-2", value);
}

/* QUOTA or QUOTA PERIOD, in microseconds. systemd has a percentage, and 100 ms where a file says no period. */
static char *convert_quota(const char *value, GError **error) {
        g_auto(GStrv) words = g_strsplit(value, " ", -1);
        guint64 quota = 0, period = 100000;

        if (words[0] && g_ascii_string_to_unsigned(words[0], 10, 1000, G_MAXUINT32, &quota, NULL) &&
            (!words[1] || (g_ascii_string_to_unsigned(words[1], 10, 1000, 1000000, &period, NULL) && !words[2])))
                return g_strdup_printf("%.2f%%", 100.0 * (double) quota / (double) period);
        return error_null(error, KT_ERROR_USAGE, "'%s' is no 'QUOTA PERIOD' in microseconds, as in 50000 100000",
                          value);
}

/* All of a cgroup's processes end with one of them. */
static char *convert_oom_group(const char *value, GError **error) {
        if (g_str_equal(value, "1"))
                return g_strdup("kill");
        return error_null(error, KT_ERROR_USAGE, "'%s' is neither 0 nor 1", value);
}

static const struct {
        const char *file;
        const char *setting; /* of [Service] */
        CgroupConvert *convert;
} files[] = {
        { "cpu.max", "CPUQuota", convert_quota },
        { "cpu.weight", "CPUWeight", convert_weight },
        { "cpuset.cpus", "AllowedCPUs", convert_numbers },
        { "cpuset.mems", "AllowedMemoryNodes", convert_numbers },
        { "io.weight", "IOWeight", convert_weight },
        { "memory.high", "MemoryHigh", convert_bytes },
        { "memory.low", "MemoryLow", convert_bytes },
        { "memory.min", "MemoryMin", convert_bytes },
        { "memory.oom.group", "OOMPolicy", convert_oom_group },
};

/* These have keys, whose limits are put together with what else concerns them. For both, 0 is none. */
static const char *find_key(const char *file) {
        return g_str_equal(file, "memory.max") ? "Memory" : g_str_equal(file, "pids.max") ? "PidsLimit" : NULL;
}

bool cgroup_setting_apply(Conversion *container, const char *setting, CgroupConvert *convert, const char *value,
                          GError **error) {
        g_autofree char *converted = convert(value, error);

        if (converted)
                cgroup_limits_put(container, setting, converted, "PodmanArgs=");
        return converted;
}

static bool set_key(Conversion *container, const char *key, const char *value, GError **error) {
        const UnitLine *line = conversion_line_with(container, container->section, "PodmanArgs", value);

        return keys_apply_value(container, key, g_str_equal(value, "max") ? "0" : value, line, error);
}

static bool apply(Conversion *container, const char *file, const char *value, GError **error) {
        const char *key = find_key(file);

        if (key)
                return set_key(container, key, value, error);
        if (g_str_equal(file, "memory.swap.max"))
                return cgroup_limits_set_swap(container, value, error);
        if (g_str_equal(file, "memory.oom.group") && g_str_equal(value, "0")) /* the kernel's default */
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
                if (g_str_equal(files[i].file, file))
                        return cgroup_setting_apply(container, files[i].setting, files[i].convert, value, error);
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': the cgroup is systemd's, which has no setting for this file that keyturn knows; see "
                         "systemd.resource-control(5)",
                         file);
}

bool cgroup_conf_apply(Conversion *container, const char *value, GError **error) {
        g_auto(GStrv) pairs = g_strsplit(value, ",", -1);

        for (char **pair = pairs; *pair; pair++) {
                char *equals = strchr(*pair, '=');

                if (!equals)
                        return error_set(error, KT_ERROR_USAGE, "'%s': the form is FILE=VALUE", *pair);
                *equals = '\0';
                if (!apply(container, *pair, equals + 1, error))
                        return false;
        }
        return true;
}
