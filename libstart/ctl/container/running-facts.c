/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/fd.h"
#include "libstart/ctl/container/payload-addresses.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/json/visit.h"
#include "libstart/oci/spec.h"
#include "libstart/request/storage-option.h"

static bool take_created(const char *path, const char *value, size_t length, void *data, GError **error) {
        char **created = data;

        if (g_str_equal(path, "created") && !*created)
                *created = g_strndup(value, length);
        return true;
}

/* That it is a time is checked here: it is shown as one. */
char *image_find_created(const StoreImage *image) {
        static const char *const names[] = { "created", NULL };
        static const JsonVisitor visitor = { .string = take_created, .names = names };
        g_autofree char *created = NULL;
        g_autoptr(GDateTime) time = NULL, utc = NULL;

        if (!json_visit(image->config, strlen(image->config), &visitor, &created, NULL) || !created)
                return NULL;
        time = g_date_time_new_from_iso8601(created, NULL);
        utc = time ? g_date_time_to_utc(time) : NULL;
        return utc ? g_date_time_format(utc, "%FT%TZ") : NULL;
}

static char *read_cgroup(const ContainerUnit *container, const char *name) {
        g_autofree char *path = g_build_filename("/sys/fs/cgroup", container->cgroup, name, NULL);
        char *text = NULL;

        return g_file_get_contents(path, &text, NULL, NULL) ? g_strchomp(text) : NULL;
}

static char *find_cpu_ms(const ContainerUnit *container) {
        g_autofree char *text = read_cgroup(container, "cpu.stat");
        const char *usage = text ? strstr(text, "usage_usec ") : NULL;

        return usage ? g_strdup_printf("%.1f", g_ascii_strtod(usage + strlen("usage_usec "), NULL) / 1000) : NULL;
}

static void find_image(const ContainerUnit *container, RunningFacts *facts) {
        g_autoptr(GPtrArray) stores = storage_option_find_stores(container->args->storage_opt);

        facts->config = payload_read_config(container, NULL);
        facts->image_id = facts->config ? payload_find_annotation(facts->config, SPEC_IMAGE_ID) : NULL;
        /* In a user's store, what has that id in the system's is another's. */
        facts->image = facts->image_id && !launch_args_has_users_store(container->args) ?
                               store_image_find("", facts->image_id, stores, NULL) :
                               NULL;
        facts->created = facts->image ? image_find_created(facts->image) : NULL;
}

void running_facts_find(const ContainerUnit *container, RunningFacts *ret) {
        *ret = (RunningFacts) { 0 };
        if (container->cgroup[0] == '/') {
                ret->memory = read_cgroup(container, "memory.current");
                ret->cpu_ms = find_cpu_ms(container);
        }
        if (!payload_check_running(container, NULL))
                return;
        find_image(container, ret);

        _cleanup_close_ int payload = payload_open(container, NULL);

        ret->addresses = payload >= 0 ? payload_find_addresses(payload) : NULL;
}

void running_facts_clear(RunningFacts *facts) {
        if (facts->config)
                libcrun_container_free(facts->config);
        if (facts->image)
                store_image_free(facts->image);
        g_free(facts->created);
        g_free(facts->addresses);
        g_free(facts->memory);
        g_free(facts->cpu_ms);
        *facts = (RunningFacts) { 0 };
}
