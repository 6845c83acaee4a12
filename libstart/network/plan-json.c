/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "libstart/base/error.h"
#include "libstart/json/emit.h"
#include "libstart/network/definition.h"
#include "libstart/network/plan-json.h"

static void emit_words(yajl_gen gen, const char *key, char *const *words) {
        json_emit_string(gen, key);
        yajl_gen_array_open(gen);
        for (; words && *words; words++)
                json_emit_string(gen, *words);
        yajl_gen_array_close(gen);
}

/* podman's --route: DESTINATION,GATEWAY[,METRIC]. */
static bool emit_route(yajl_gen gen, const char *text, GError **error) {
        g_auto(GStrv) parts = g_strsplit(text, ",", -1);
        guint n = g_strv_length(parts);
        guint64 metric = 0;
        IpAddress gateway;
        IpPrefix prefix;

        if (n < 2 || n > 3 || !ip_prefix_parse(parts[0], false, &prefix, NULL) ||
            !ip_address_parse(parts[1], &gateway) ||
            (n == 3 && !g_ascii_string_to_unsigned(parts[2], 10, 0, G_MAXUINT32, &metric, NULL)))
                return error_set(error, KT_ERROR_USAGE, "--route=%s: the form is SUBNET,GATEWAY[,METRIC]", text);
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "destination", parts[0]);
        network_address_emit(gen, "gateway", &gateway);
        if (n == 3)
                json_emit_key_number(gen, "metric", metric);
        yajl_gen_map_close(gen);
        return true;
}

static bool emit_routes(const NetworkPlan *plan, yajl_gen gen, GError **error) {
        bool ok = true;

        json_emit_string(gen, "routes");
        yajl_gen_array_open(gen);
        for (char *const *route = plan->options->routes; ok && route && *route; route++)
                ok = emit_route(gen, *route, error);
        yajl_gen_array_close(gen);
        return ok;
}

/* NAME[=VALUE], the last of a name. */
static void emit_labels(const NetworkPlan *plan, yajl_gen gen) {
        g_autoptr(GHashTable) labels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GList) names = NULL;

        for (char *const *label = plan->options->labels; label && *label; label++) {
                const char *equals = strchr(*label, '=');

                g_hash_table_replace(labels, equals ? g_strndup(*label, (gsize) (equals - *label)) : g_strdup(*label),
                                     (void *) (equals ? equals + 1 : ""));
        }
        names = g_list_sort(g_hash_table_get_keys(labels), (GCompareFunc) strcmp);
        json_emit_string(gen, "labels");
        yajl_gen_map_open(gen);
        for (GList *name = names; name; name = name->next)
                json_emit_key_string(gen, name->data, g_hash_table_lookup(labels, name->data));
        yajl_gen_map_close(gen);
}

/* The same name gives the same one: netavark names its rules by it. */
static void emit_identity(const NetworkPlan *plan, yajl_gen gen) {
        g_autofree char *seed = g_strconcat("keyturn network ", plan->options->name, NULL);
        g_autofree char *id = g_compute_checksum_for_string(G_CHECKSUM_SHA256, seed, -1);
        g_autoptr(GDateTime) now = g_date_time_new_now_utc();
        g_autofree char *created = g_date_time_format_iso8601(now);

        json_emit_key_string(gen, "name", plan->options->name);
        json_emit_key_string(gen, "id", id);
        json_emit_key_string(gen, "driver", plan->options->driver ?: "bridge");
        if (plan->interface)
                json_emit_key_string(gen, "network_interface", plan->interface);
        json_emit_key_string(gen, "created", created);
}

static bool emit_network(const NetworkPlan *plan, yajl_gen gen, GError **error) {
        bool ok;

        yajl_gen_map_open(gen);
        emit_identity(plan, gen);
        network_subnets_emit(gen, plan->subnets);
        ok = !plan->options->routes || emit_routes(plan, gen, error);
        json_emit_key_bool(gen, "ipv6_enabled", plan->options->ipv6 || network_plan_has_family(plan, AF_INET6));
        json_emit_key_bool(gen, "internal", plan->options->internal);
        json_emit_key_bool(gen, "dns_enabled", plan->dns);
        if (plan->options->dns)
                emit_words(gen, "network_dns_servers", plan->options->dns);
        emit_labels(plan, gen);
        json_emit_string(gen, "options");
        yajl_gen_map_open(gen);
        for (guint i = 0; i < plan->own->len; i += 2)
                json_emit_key_string(gen, plan->own->pdata[i], plan->own->pdata[i + 1]);
        yajl_gen_map_close(gen);
        json_emit_string(gen, "ipam_options");
        yajl_gen_map_open(gen);
        json_emit_key_string(gen, "driver", plan->ipam);
        yajl_gen_map_close(gen);
        yajl_gen_map_close(gen);
        return ok;
}

char *plan_json_print(const NetworkPlan *plan, GError **error) {
        yajl_gen gen = json_emit_new(false);
        bool ok = emit_network(plan, gen, error);
        g_autofree char *text = json_emit_finish(gen);

        return ok ? g_steal_pointer(&text) : NULL;
}
