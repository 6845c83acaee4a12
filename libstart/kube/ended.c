/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/kube/ended.h"
#include "libstart/systemd/systemd-call.h"

typedef struct Ends {
        unsigned n, failed;
        bool is_one_up, has_init_failed;
        GString *names; /* of those that have failed */
} Ends;

static bool look(Ends *ends, const char *word, GError **error) {
        bool is_init = g_str_has_prefix(word, KUBE_INIT);
        const char *unit = is_init ? word + strlen(KUBE_INIT) : word;
        g_autofree char *state = systemd_unit_state(unit, error);
        bool has_failed = g_strcmp0(state, "failed") == 0;

        if (!state)
                return false;
        if (has_failed)
                g_string_append_printf(ends->names, " %s", unit);
        if (is_init) {
                ends->has_init_failed |= has_failed;
                return true;
        }
        ends->n++;
        ends->failed += has_failed;
        ends->is_one_up |= !has_failed && !g_str_equal(state, "inactive");
        return true;
}

bool kube_ended(const char *policy, const char *const *units, GError **error) {
        g_autoptr(GString) names = g_string_new(NULL);
        Ends ends = { .names = names };
        bool is_all = g_str_equal(policy, "all");

        for (; *units; units++)
                if (!look(&ends, *units, error))
                        return false;
        if (ends.is_one_up || (!ends.has_init_failed && (is_all ? ends.failed < ends.n : ends.failed == 0)))
                return true;
        return error_set(error, KT_ERROR_FAILED, "Its containers have ended, and failed have:%s", names->str);
}
