/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/run/filter.h"
#include "libstart/base/journal-message.h"
#include "libstart/base/log.h"
#include "libstart/oci/spec.h"
#include "libstart/option/security-option.h"
#include "libstart/seccomp/obtain.h"

/* The container has its filter, and somebody should know what it cost. */
static void tell_origin(const SeccompOrigin *origin) {
        g_autoptr(GError) error = NULL;
        g_autofree char *message = g_strdup_printf(
                "Seccomp filter %s: %s",
                origin->compiled ? "compiled during the start" : "taken from the system image", origin->why);

        if (!origin->compiled && !origin->damaged)
                log_debug("%s", message);
        else if (!journal_message_send("libstart", LOG_WARNING, MESSAGE_ID_SECCOMP_COMPILED, message, "", &error))
                log_warning("%s", message);
}

bool filter_load(const LaunchArgs *args, const ImageConfig *image, const HostFacts *host, GBytes **ret,
                 GError **error) {
        SecurityOption seccomp = { .enabled = true };
        g_auto(SeccompOrigin) origin = { 0 };
        guint64 bounding;

        for (guint i = 0; i < args->security_opt->len; i++) {
                SecurityOption option;

                if (!security_option_parse(args->security_opt->pdata[i], &option, error))
                        return false;
                if (option.kind == SECURITY_SECCOMP) /* the last one counts */
                        seccomp = option;
        }
        if (!seccomp.enabled) {
                *ret = NULL;
                return true;
        }
        if (!spec_find_capabilities(args, image, host, &bounding, error))
                return false;
        *ret = seccomp_filter_for("", seccomp.profile, bounding, &origin, error);
        if (*ret && origin.why)
                tell_origin(&origin);
        return *ret;
}
