/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "libstart/value/runtime-kind.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *program;
        RuntimeKind kind;
} examples[] = {
        { "/usr/bin/crun", RUNTIME_CRUN },       { "crun", RUNTIME_CRUN },
        { "/usr/bin/krun", RUNTIME_CRUN },       { "/usr/local/bin/crun-wasm", RUNTIME_CRUN },
        { "/usr/sbin/runc", RUNTIME_RUNC },      { "/opt/runc.amd64", RUNTIME_RUNC },
        { "/opt/runsc_debug", RUNTIME_RUNSC },   { "/usr/bin/runsc", RUNTIME_RUNSC },
        { "/usr/bin/runscript", RUNTIME_OTHER }, { "/usr/bin/runcat", RUNTIME_OTHER },
        { "/crun/youki", RUNTIME_OTHER },        { "/usr/bin/nvidia-container-runtime", RUNTIME_OTHER },
        { "/usr/bin/run", RUNTIME_OTHER },       { "/usr/bin/", RUNTIME_OTHER },
};

START_TEST(test_kinds) {
        ck_assert_msg(runtime_kind_find(examples[_i].program) == examples[_i].kind, "%s", examples[_i].program);
}
END_TEST

TEST_MAIN("runtime-kind", { tcase_add_loop_test(tcase, test_kinds, 0, G_N_ELEMENTS(examples)); })
