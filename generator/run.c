/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/run.h"
#include "libstart/base/log.h"

void run_fail(Run *run, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        log_error("%s", message);
        run->failed = true;
}

/* Of what was made of a .kube file, whose path it has. What a pod's containers say is that the pod is refused. */
static void note_refusal(Run *run, const Conversion *container, const char *text) {
        const SourceFile *source = container->source;
        bool is_pod = g_str_has_suffix(source->name, ".pod");

        if (!g_str_has_suffix(source->path, ".kube") || g_str_has_suffix(source->name, ".kube"))
                return;
        g_hash_table_add(run->refused_parts, (void *) source);
        if (is_pod || !g_hash_table_contains(run->refused_kubes, source->path))
                g_hash_table_insert(run->refused_kubes, source->path, g_strdup(text));
}

void run_report(Run *run, const Conversion *container) {
        const GPtrArray *findings = conversion_findings(container);

        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->kind == FINDING_PROBLEM) {
                        run_fail(run, "%s", finding->text);
                        note_refusal(run, container, finding->text);
                } else
                        log_warning("%s", finding->text);
        }
}
