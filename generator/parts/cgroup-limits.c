/* SPDX-License-Identifier: LGPL-2.1-or-later */
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

/* Which of two limits would count is nobody's guess. No limit here is no contradiction to one there. */
static void set_limit(Conversion *container, const char *setting, const char *value, const char *key) {
        const UnitLine *line = service_user_line(container->service, setting);

        if (line && g_str_equal(value, "infinity"))
                return;
        if (line)
                conversion_problem(container, line, "%s in [Container] limits the same; remove one of the two", key);
        service_set(container->service, setting, value);
        if (!g_str_equal(value, "infinity"))
                kernel_control_need(container, setting);
}

/* With Podman both count, in two cgroups: so the smaller one does. How much a percentage is only systemd knows. */
static bool is_below(Conversion *container, const UnitLine *line, guint64 limit) {
        guint64 other;

        if (g_ascii_string_to_unsigned(line->value, 10, 1, G_MAXUINT64, &other, NULL))
                conversion_warning(container, line,
                                   "PidsLimit=%s in [Container] limits the same: the smaller one counts",
                                   container->limits.pids);
        else {
                conversion_problem(container, line,
                                   "PidsLimit= in [Container] limits the same, and '%s' cannot be compared with it; "
                                   "remove one of the two",
                                   line->value);
                return true;
        }
        return limit < other;
}

static void set_pids_limit(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "TasksMax");
        guint64 limit = container->limits.pids ? g_ascii_strtoull(container->limits.pids, NULL, 10) : 0;

        if (limit > 0)
                kernel_control_need(container, "TasksMax");
        if (!line || (limit > 0 && (g_str_equal(line->value, "infinity") || is_below(container, line, limit))))
                service_set(container->service, "TasksMax", container->limits.pids ?: PIDS_LIMIT);
}

void cgroup_limits_service(Conversion *container) {
        set_pids_limit(container);
        if (container->limits.memory_swap && !container->limits.memory)
                swap_problem(container,
                             "the limit of the memory is missing; write Memory=, or MemorySwapMax= in [Service]");
        if (container->limits.memory) {
                g_autofree char *swap = find_swap(container);

                set_limit(container, "MemoryMax", container->limits.memory, "Memory=");
                set_limit(container, "MemorySwapMax", swap, "Memory=");
        }
}
