/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "generator/parts/cgroup-limits.h"
#include "generator/parts/kernel-control.h"
#include "libstart/base/error.h"
#include "libstart/value/size.h"

/* Podman's, where a file says nothing. */
#define PIDS_LIMIT "2048"

/* Wherever Podman would put the payload, here it is in its service's cgroup. With "disabled" it is there, too. */
bool handle_cgroups_mode(Conversion *container, const Key *key, const Value *value, GError **error) {
        const char *mode = value->text;

        if (g_str_equal(mode, "split"))
                return true;
        if (g_str_equal(mode, "enabled") || g_str_equal(mode, "no-conmon"))
                conversion_difference(
                        container, value->line,
                        "'%s': the payload runs in the cgroup of its service, whose limits count for it, "
                        "where Podman has one for it in machine.slice; for that, write Slice=machine.slice in "
                        "[Service]",
                        mode);
        else if (g_str_equal(mode, "disabled"))
                conversion_difference(
                        container, value->line,
                        "'disabled': the payload runs in the cgroup of its service, as with Podman, and the "
                        "limits of processes and devices, which Podman then leaves out, count for it");
        else
                return error_set(error, KT_ERROR_USAGE, "'%s' is none of split, enabled, no-conmon and disabled",
                                 mode);
        return true;
}

/* 0 is no limit, too, as in Podman. */
bool handle_pids_limit(Conversion *container, const Key *key, const Value *value, GError **error) {
        gint64 n;

        if (!g_ascii_string_to_signed(value->text, 10, -1, G_MAXINT32, &n, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no number of processes (-1: no limit; specifiers do not work here)",
                                 value->text);
        g_free(container->limits.pids);
        container->limits.pids = n > 0 ? g_strdup_printf("%" G_GINT64_FORMAT, n) : g_strdup("infinity");
        return true;
}

static bool set_size(char **field, const char *value, GError **error) {
        guint64 bytes;

        if (!size_parse(value, &bytes, error))
                return false;
        g_free(*field);
        *field = bytes > 0 ? g_strdup_printf("%" G_GUINT64_FORMAT, bytes) : g_strdup("infinity");
        return true;
}

bool handle_memory(Conversion *container, const Key *key, const Value *value, GError **error) {
        return set_size(&container->limits.memory, value->text, error);
}

bool cgroup_limits_set_memory_swap(Conversion *container, const char *value, GError **error) {
        return set_size(&container->limits.memory_swap, g_str_equal(value, "-1") ? "0" : value, error);
}

bool cgroup_limits_set_swap(Conversion *container, const char *value, GError **error) {
        guint64 bytes = 0;

        if (!g_str_equal(value, "max") && !size_parse(value, &bytes, error))
                return false;
        g_free(container->limits.swap);
        container->limits.swap = g_str_equal(value, "max") ? g_strdup("infinity") :
                                                             g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
        return true;
}

static bool read_number(const char *text, guint64 min, double *ret_limit) {
        guint64 n;

        if (!g_ascii_string_to_unsigned(text, 10, min, G_MAXINT64, &n, NULL))
                return false;
        *ret_limit = (double) n;
        return true;
}

/* A number and one of systemd's letters, which are capital. What systemd would ignore (1g) is no limit. */
static bool read_size(const char *text, bool may_be_zero, double *ret_limit) {
        static const char letters[] = "KMGT";
        size_t digits = strspn(text, "0123456789");
        const char *letter = text[digits] ? strchr(letters, text[digits]) : NULL;
        g_autofree char *number = g_strndup(text, digits);

        if ((text[digits] && (!letter || text[digits + 1])) || !read_number(number, !may_be_zero, ret_limit))
                return false;
        *ret_limit = ldexp(*ret_limit, letter ? 10 * (int) (letter - letters + 1) : 0);
        return true;
}

static bool read_limit(const char *setting, const char *text, double *ret_limit) {
        char *end;

        if (g_str_equal(text, "infinity")) {
                *ret_limit = HUGE_VAL;
                return true;
        }
        if (g_str_equal(setting, "CPUQuota")) {
                *ret_limit = g_ascii_isdigit(text[0]) ? g_ascii_strtod(text, &end) : 0;
                return *ret_limit > 0 && g_str_equal(end, "%");
        }
        if (g_str_equal(setting, "TasksMax"))
                return read_number(text, 1, ret_limit);
        return g_str_has_prefix(setting, "Memory") &&
               read_size(text, !g_str_equal(setting, "MemoryMax") && !g_str_equal(setting, "MemoryHigh"), ret_limit);
}

LimitChoice cgroup_limits_choose(const char *setting, const char *of_service, const char *of_option) {
        double outer, inner;

        if (g_str_equal(of_service, of_option) || g_str_has_suffix(setting, "Weight") ||
            g_str_equal(setting, "OOMPolicy"))
                return LIMIT_OF_SERVICE;
        if (!read_limit(setting, of_service, &outer) || !read_limit(setting, of_option, &inner))
                return LIMIT_UNKNOWN;
        return outer <= inner ? LIMIT_OF_SERVICE : LIMIT_OF_OPTION;
}

static void swap_problem(Conversion *container, const char *problem) {
        const UnitLine *line = conversion_line_with(container, "Container", "PodmanArgs", "--memory-swap");

        conversion_problem(container, line, "--memory-swap: %s", problem);
}

/* Podman counts the memory in, systemd does not. Without a limit of both, Podman allows as much swap as memory.
 * Transfer full. */
static char *find_swap(Conversion *container) {
        guint64 memory = g_ascii_strtoull(container->limits.memory, NULL, 10), both;

        if (!container->limits.memory_swap || memory == 0)
                return g_strdup(container->limits.memory_swap ?: container->limits.memory);
        both = g_ascii_strtoull(container->limits.memory_swap, NULL, 10);
        if (both == 0)
                return g_strdup("infinity");
        if (both < memory)
                swap_problem(container, "it is memory and swap together, and must not be less than the memory");
        return g_strdup_printf("%" G_GUINT64_FORMAT, both < memory ? 0 : both - memory);
}

void cgroup_limits_put(Conversion *container, const char *setting, const char *value, const char *option) {
        const UnitLine *line = service_user_line(container->service, setting);
        LimitChoice choice = line ? cgroup_limits_choose(setting, line->value, value) : LIMIT_OF_OPTION;

        if (line && g_str_equal(value, "infinity"))
                return;
        if (choice == LIMIT_UNKNOWN)
                conversion_problem(
                        container, line,
                        "%s in [Container] sets this, too, and '%s' cannot be compared with it; remove one "
                        "of the two",
                        option, line->value);
        else if (line && !g_str_equal(line->value, value))
                conversion_warning(container, line, "%s in [Container] sets this to %s, and %s counts", option, value,
                                   choice == LIMIT_OF_SERVICE ? "this one" : "the smaller one");
        if (choice == LIMIT_OF_OPTION)
                service_set(container->service, setting, value);
        if (!g_str_equal(value, "infinity")) {
                kernel_control_need(container, setting);
                container->args->own_cgroup = FLAG_TRUE;
        }
}

/* Podman has a limit where the file says nothing. */
static void set_pids_limit(Conversion *container) {
        if (container->limits.pids)
                cgroup_limits_put(container, "TasksMax", container->limits.pids, "PidsLimit=");
        else if (!service_user_line(container->service, "TasksMax"))
                service_set(container->service, "TasksMax", PIDS_LIMIT);
}

/* Podman's own limit of it is in the same cgroup. */
static void set_swap(Conversion *container) {
        g_autofree char *of_memory = container->limits.memory ? find_swap(container) : NULL;
        const char *swap = container->limits.swap;

        if (swap && of_memory && cgroup_limits_choose("MemorySwapMax", swap, of_memory) == LIMIT_OF_OPTION)
                swap = of_memory;
        if (swap || of_memory)
                cgroup_limits_put(container, "MemorySwapMax", swap ?: of_memory, swap ? "--cgroup-conf" : "Memory=");
}

/* What the kernel keeps in files of the cgroup, by the names of systemd 252, too. A payload that is root could write
 * them (service/own-cgroup.h). */
static const char *const limits[] = {
        "AllowedCPUs",
        "AllowedMemoryNodes",
        "BlockIODeviceWeight",
        "BlockIOReadBandwidth",
        "BlockIOWeight",
        "BlockIOWriteBandwidth",
        "CPUQuota",
        "CPUShares",
        "CPUWeight",
        "IODeviceLatencyTargetSec",
        "IODeviceWeight",
        "IOReadBandwidthMax",
        "IOReadIOPSMax",
        "IOWeight",
        "IOWriteBandwidthMax",
        "IOWriteIOPSMax",
        "MemoryHigh",
        "MemoryLimit",
        "MemoryMax",
        "MemorySwapMax",
        "MemoryZSwapMax",
        "StartupAllowedCPUs",
        "StartupAllowedMemoryNodes",
        "StartupBlockIOWeight",
        "StartupCPUShares",
        "StartupCPUWeight",
        "StartupIOWeight",
        "StartupMemoryHigh",
        "StartupMemoryMax",
        "StartupMemorySwapMax",
        "StartupMemoryZSwapMax",
        "TasksMax",
};

/* Only a file that has limits pays for a cgroup more: 2048 processes are no limit of its own. */
static void keep_limits(Conversion *container) {
        for (size_t i = 0; i < G_N_ELEMENTS(limits); i++)
                if (service_user_line(container->service, limits[i]))
                        container->args->own_cgroup = FLAG_TRUE;
}

void cgroup_limits_service(Conversion *container) {
        keep_limits(container);
        set_pids_limit(container);
        if (container->limits.memory_swap && !container->limits.memory)
                swap_problem(container,
                             "the limit of the memory is missing; write Memory=, or MemorySwapMax= in [Service]");
        if (container->limits.memory)
                cgroup_limits_put(container, "MemoryMax", container->limits.memory, "Memory=");
        set_swap(container);
}
