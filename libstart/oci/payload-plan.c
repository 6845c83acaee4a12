/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>

#include "libstart/base/error.h"
#include "libstart/oci/payload-args.h"
#include "libstart/oci/payload-plan.h"
#include "libstart/value/signal-name.h"

/* The one at which systemd halts. */
#define INIT_STOP_SIGNAL (SIGRTMIN + 3)

static bool find_stop_signal(const ContainerRequest *request, const ImageConfig *image, PayloadPlan *plan,
                             GError **error) {
        plan->stop_signal = request->stop_signal ?: plan->is_systemd ? INIT_STOP_SIGNAL : SIGTERM;
        if (request->stop_signal != 0 || !image->stop_signal ||
            signal_name_parse(image->stop_signal, &plan->stop_signal, error))
                return true;
        return error_prefix(error, "The image's STOPSIGNAL: ");
}

bool payload_plan_make(const ContainerRequest *request, const ImageConfig *image, PayloadPlan *ret, GError **error) {
        g_auto(PayloadPlan) plan = { .args = payload_args_build(request, image, error) };

        if (!plan.args)
                return false;
        plan.is_systemd = systemd_mode_applies(request->systemd, (const char *const *) plan.args);
        if (!find_stop_signal(request, image, &plan, error))
                return false;
        *ret = plan;
        plan.args = NULL;
        return true;
}

void payload_plan_clear(PayloadPlan *plan) {
        g_clear_pointer(&plan->args, g_strfreev);
}
