/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/log.h"
#include "libstart/base/security-option.h"
#include "libstart/oci/spec.h"
#include "libstart/run/filter.h"
#include "libstart/seccomp/seccomp.h"

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
        if (*ret && origin.compiled)
                log_debug("Seccomp filter compiled in place: %s", origin.why);
        return *ret;
}
