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

void run_report(Run *run, const Container *container) {
        const GPtrArray *findings = container_findings(container);

        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->is_problem)
                        run_fail(run, "%s", finding->text);
                else
                        log_warning("%s", finding->text);
        }
}
