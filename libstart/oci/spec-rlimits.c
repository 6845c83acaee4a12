/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/ulimit.h"

#define DEFAULT_LIMIT 1048576 /* Podman's, for open files and for processes */

static runtime_spec_schema_config_schema_process_rlimits_element *find_limit(Spec *spec, const char *type) {
        for (size_t i = 0; i < spec->process->rlimits_len; i++)
                if (g_str_equal(spec->process->rlimits[i]->type, type))
                        return spec->process->rlimits[i];
        return NULL;
}

static void set_limit(Spec *spec, const char *type, guint64 soft, guint64 hard) {
        runtime_spec_schema_config_schema_process_rlimits_element *limit = find_limit(spec, type);

        if (!limit) {
                limit = g_new0(typeof(*limit), 1);
                limit->type = g_strdup(type);
                spec->process->rlimits[spec->process->rlimits_len++] = limit;
        }
        limit->soft = soft;
        limit->hard = hard;
        limit->soft_present = limit->hard_present = true;
}

/* As high as Podman gets it: it raises its own limits first, and takes what it has where it may not. */
static void set_default(Spec *spec, const char *type, guint64 own_hard, bool can_raise) {
        guint64 limit = can_raise ? DEFAULT_LIMIT : MIN(DEFAULT_LIMIT, own_hard);

        if (!find_limit(spec, type))
                set_limit(spec, type, limit, limit);
}

bool spec_add_rlimits(Spec *spec, const SpecInput *input, GError **error) {
        const HostFacts *host = input->host;
        const GPtrArray *ulimits = input->args->ulimits;

        spec->process->rlimits = g_new0(typeof(*spec->process->rlimits), ulimits->len + 2);
        for (guint i = 0; i < ulimits->len; i++) {
                Ulimit ulimit;

                if (!ulimit_parse(ulimits->pdata[i], &ulimit, error))
                        return false;
                if (ulimit.type)
                        set_limit(spec, ulimit.type, ulimit.soft, ulimit.hard);
                else if (ulimits->len == 1)
                        return true; /* "host": without limits in the spec, those of the unit stay */
                else
                        return error_set(error, KT_ERROR_USAGE, "ulimit 'host' excludes other ulimits");
        }
        set_default(spec, "RLIMIT_NOFILE", host->nofile_hard,
                    host->can_raise_limits && (host->nr_open == 0 || host->nr_open >= DEFAULT_LIMIT));
        set_default(spec, "RLIMIT_NPROC", host->nproc_hard, host->can_raise_limits);
        return true;
}
