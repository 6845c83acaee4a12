/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_tree.h>

#include "libstart/base/error.h"
#include "libstart/health/image-health.h"
#include "libstart/json/member.h"
#include "libstart/json/walk.h"

#define DEPTH_MAX 64

void image_health_free(ImageHealth *health) {
        if (!health)
                return;
        g_strfreev(health->test);
        g_free(health);
}

/* Podman looks into what the image was committed from first. */
static yajl_val find(yajl_val tree) {
        static const char *const places[] = { "container_config", "config" };
        yajl_val found = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(places) && !found; i++)
                found = json_member(json_member(tree, places[i], yajl_t_object), "Healthcheck", yajl_t_object);
        return found;
}

static guint64 get_number(yajl_val object, const char *name) {
        yajl_val value = json_member(object, name, yajl_t_number);

        return YAJL_IS_INTEGER(value) && YAJL_GET_INTEGER(value) > 0 ? (guint64) YAJL_GET_INTEGER(value) : 0;
}

#define NSEC_PER_USEC 1000

static guint64 get_span(yajl_val object, const char *name) {
        return (get_number(object, name) + NSEC_PER_USEC - 1) / NSEC_PER_USEC;
}

static char **get_test(yajl_val object, GError **error) {
        yajl_val value = json_member(object, "Test", yajl_t_array);
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (value && !json_append_strings(value, &words, error))
                return NULL;
        g_ptr_array_add(words, NULL);
        return (char **) g_ptr_array_steal(words, NULL);
}

ImageHealth *image_health_parse(const char *json, GError **error) {
        g_auto(yajl_val) tree = json_parse(json, strlen(json), DEPTH_MAX, error);
        yajl_val found = tree ? find(tree) : NULL;
        g_autoptr(ImageHealth) health = found ? g_new0(ImageHealth, 1) : NULL;

        if (health) {
                health->test = get_test(found, error);
                health->interval = get_span(found, "Interval");
                health->timeout = get_span(found, "Timeout");
                health->start_period = get_span(found, "StartPeriod");
                health->retries = (guint) MIN(get_number(found, "Retries"), G_MAXINT32);
        }
        if (health && !health->test)
                return error_prefix_null(error, "HEALTHCHECK: ");
        return g_steal_pointer(&health);
}
