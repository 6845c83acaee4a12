/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/cgroup-limits.h"
#include "libstart/base/error.h"
#include "libstart/option/size.h"

/* Podman's, where a file says nothing. */
#define PIDS_LIMIT "2048"

/* 0 is no limit, too, as in Podman. */
bool handle_pids_limit(Container *container, const Key *key, const Value *value, GError **error) {
        gint64 n;

        if (!g_ascii_string_to_signed(value->text, 10, -1, G_MAXINT32, &n, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no number of processes (-1: no limit; specifiers do not work here)",
                                 value->text);
        g_free(container->pids_limit);
        container->pids_limit = n > 0 ? g_strdup_printf("%" G_GINT64_FORMAT, n) : g_strdup("infinity");
        return true;
}

bool handle_memory(Container *container, const Key *key, const Value *value, GError **error) {
        guint64 bytes;

        if (!size_parse(value->text, &bytes, error))
                return false;
        g_free(container->memory);
        container->memory = bytes > 0 ? g_strdup_printf("%" G_GUINT64_FORMAT, bytes) : g_strdup("infinity");
        return true;
}

/* Which of two limits would count is nobody's guess. */
static void set_limit(Container *container, const char *setting, const char *value, const char *key) {
        const UnitLine *line = service_user_line(container->service, setting);

        if (line)
                container_problem(container, line, "%s in [Container] limits the same; remove one of the two", key);
        service_set(container->service, setting, value);
}

void cgroup_limits_service(Container *container) {
        if (container->pids_limit)
                set_limit(container, "TasksMax", container->pids_limit, "PidsLimit=");
        else if (!service_user_line(container->service, "TasksMax"))
                service_set(container->service, "TasksMax", PIDS_LIMIT);
        if (container->memory) {
                set_limit(container, "MemoryMax", container->memory, "Memory=");
                set_limit(container, "MemorySwapMax", container->memory, "Memory="); /* Podman: as much again */
        }
}
