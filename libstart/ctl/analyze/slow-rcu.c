/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "libstart/ctl/analyze/slow-rcu.h"

/* The normal way counts even where rcu_expedited is set, too. */
bool slow_rcu_is_on(void) {
        g_autofree char *text = NULL;

        return g_file_get_contents("/sys/kernel/rcu_normal", &text, NULL, NULL) &&
               g_ascii_strtoll(text, NULL, 10) > 0;
}
