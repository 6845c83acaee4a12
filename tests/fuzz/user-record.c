/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/userns/user-record.h"
#include "tests/fuzz/fuzz.h"

static guint count_lines(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        return g_strv_length(lines);
}

/* A record is one line more, behind those that are there, and a group one line each. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static const char PASSWD[] = "root:x:0:0:::", GROUP[] = "root:x:0:";
        g_autofree char *text = fuzz_text(data, size), *passwd = g_strdup(PASSWD), *group = g_strdup(GROUP);
        g_autoptr(GError) error = NULL;
        bool ok = user_record_append(text, strlen(text), &passwd, &group, &error);

        require_error(ok, error, text);
        require(g_str_has_prefix(passwd, PASSWD) && g_str_has_prefix(group, GROUP), "lines have changed: '%s'",
                passwd);
        require(count_lines(passwd) == (ok ? 2 : 1), "'%s' are other lines", passwd);
        require(ok || g_str_equal(group, GROUP), "'%s' of a record that is none", group);
        return 0;
}
