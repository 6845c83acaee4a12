/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/image-config.h"
#include "libstart/request/request.h"

/* What is run, and what follows from that. */
typedef struct PayloadPlan {
        char **args;     /* owned: argv */
        bool is_systemd; /* an init like systemd, for which there is more to do */
        int stop_signal; /* as the request says; else the image; else an init's SIGRTMIN+3; else SIGTERM */
} PayloadPlan;

bool payload_plan_make(const ContainerRequest *request, const ImageConfig *image, PayloadPlan *ret, GError **error);
void payload_plan_clear(PayloadPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PayloadPlan, payload_plan_clear)
