/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>

#include "libstart/base/output-file.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/health.h"
#include "libstart/ctl/container/running-facts.h"

/* In the text format of Prometheus, which its node_exporter reads from files. */

enum { INFO, ACTIVE, REFUSED, SINCE, START, RESTARTS, HEALTHY, MEMORY, CPU, N_FAMILIES };

static const struct {
        const char *name, *type, *help;
} families[N_FAMILIES] = {
        [INFO] = { "info", "gauge", "A container, its image, and the image that runs." },
        [ACTIVE] = { "active", "gauge", "Whether its service is active." },
        [REFUSED] = { "refused", "gauge", "Whether its file is refused, so that it cannot be started again." },
        [SINCE] = { "state_change_timestamp_seconds", "gauge", "When the service came into its state." },
        [START] = { "start_seconds", "gauge", "How long the last start took." },
        [RESTARTS] = { "restarts_total", "counter", "How often Restart= has started it again." },
        [HEALTHY] = { "healthy", "gauge", "Whether its health checks succeed; missing where it has none." },
        [MEMORY] = { "memory_bytes", "gauge", "What its control group uses." },
        [CPU] = { "cpu_seconds_total", "counter", "Processor time of its control group." },
};

static void append_label(GString *labels, const char *name, const char *value) {
        g_string_append_printf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
        for (const char *c = value; *c; c++)
                if (*c == '\n')
                        g_string_append(labels, "\\n");
                else {
                        if (*c == '"' || *c == '\\')
                                g_string_append_c(labels, '\\');
                        g_string_append_c(labels, *c);
                }
        g_string_append_c(labels, '"');
}

static void add(GString *samples[], int family, const char *labels, const char *format, ...) G_GNUC_PRINTF(4, 5);
static void add(GString *samples[], int family, const char *labels, const char *format, ...) {
        va_list ap;

        g_string_append_printf(samples[family], "keyturn_container_%s{%s} ", families[family].name, labels);
        va_start(ap, format);
        g_string_append_vprintf(samples[family], format, ap);
        va_end(ap);
        g_string_append_c(samples[family], '\n');
}

static void add_running(GString *samples[], const ContainerUnit *container, const char *labels) {
        g_auto(RunningFacts) facts = { 0 };
        g_autoptr(GString) more = g_string_new(labels);

        running_facts_find(container, &facts);
        append_label(more, "image", container->args->image ?: "");
        append_label(more, "image_id", facts.image_id ?: "");
        add(samples, INFO, more->str, "1");
        if (facts.memory)
                add(samples, MEMORY, labels, "%s", facts.memory);
        if (facts.cpu_ms)
                add(samples, CPU, labels, "%.4f", g_ascii_strtod(facts.cpu_ms, NULL) / 1000);
}

static void add_container(GString *samples[], const ContainerUnit *container) {
        g_autoptr(GString) labels = g_string_new(NULL);
        g_autofree char *health = health_describe(container, NULL);

        append_label(labels, "container", container->args->name);
        append_label(labels, "unit", container->unit);
        add_running(samples, container, labels->str);
        add(samples, ACTIVE, labels->str, "%d", g_str_equal(container->active, "active"));
        add(samples, REFUSED, labels->str, "%d", container->is_refused && !container->is_masked);
        add(samples, RESTARTS, labels->str, "%u", container->restarts);
        if (container->since)
                add(samples, SINCE, labels->str, "%.3f", (double) container->since / G_USEC_PER_SEC);
        if (container->start)
                add(samples, START, labels->str, "%.6f", (double) container->start / G_USEC_PER_SEC);
        if (health)
                add(samples, HEALTHY, labels->str, "%d", g_str_equal(health, "healthy"));
}

static char *format(const GPtrArray *all) {
        GString *samples[N_FAMILIES], *text = g_string_new(NULL);

        for (int i = 0; i < N_FAMILIES; i++)
                samples[i] = g_string_new(NULL);
        for (guint i = 0; i < all->len; i++)
                add_container(samples, all->pdata[i]);
        for (int i = 0; i < N_FAMILIES; i++) {
                if (samples[i]->len > 0)
                        g_string_append_printf(text,
                                               "# HELP keyturn_container_%s %s\n# TYPE keyturn_container_%s %s\n%s",
                                               families[i].name, families[i].help, families[i].name, families[i].type,
                                               samples[i]->str);
                g_string_free(samples[i], TRUE);
        }
        return g_string_free(text, FALSE);
}

int command_metrics(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autofree char *text = format(all);

        if (options->output)
                return output_file_write(options->output, text, error) ? 0 : -1;
        fputs(text, stdout);
        return 0;
}
