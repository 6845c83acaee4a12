/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <inttypes.h>

#include "tests/unit/oci/build-spec.h"

static char *describe(const Spec *spec) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < spec->process->rlimits_len; i++) {
                const runtime_spec_schema_config_schema_process_rlimits_element *limit = spec->process->rlimits[i];

                ck_assert(limit->soft_present && limit->hard_present);
                g_string_append_printf(text, "%s%s=%" PRIu64 ":%" PRIu64, i ? " " : "", limit->type, limit->soft,
                                       limit->hard);
        }
        return g_string_free(text, FALSE);
}

#define MILLION "1048576:1048576"

/* Rows compared with Podman 5.4.2, but for "host", where it writes the defaults, having raised its own
 * limits. */
static const struct {
        const char *const *words;
        bool can_raise;
        guint64 nofile_hard, nr_open;
        const char *expected;
} rows[] = {
        { WORDS("i"), true, 524288, 0, "RLIMIT_NOFILE=" MILLION " RLIMIT_NPROC=" MILLION },
        { WORDS("i"), true, 20000, 1048576, "RLIMIT_NOFILE=" MILLION " RLIMIT_NPROC=" MILLION },
        { WORDS("i"), true, 20000, 1048575, "RLIMIT_NOFILE=20000:20000 RLIMIT_NPROC=" MILLION },
        { WORDS("i"), false, 20000, 0, "RLIMIT_NOFILE=20000:20000 RLIMIT_NPROC=96363:96363" },
        { WORDS("i"), false, G_MAXUINT64, 0, "RLIMIT_NOFILE=" MILLION " RLIMIT_NPROC=96363:96363" },
        { WORDS("--ulimit=nofile=100:200", "--ulimit=core=-1", "i"), false, 20000, 0,
          "RLIMIT_NOFILE=100:200 RLIMIT_CORE=18446744073709551615:18446744073709551615 "
          "RLIMIT_NPROC=96363:96363" },
        { WORDS("--ulimit=core=5:-1", "--ulimit=core=1", "i"), true, 20000, 0,
          "RLIMIT_CORE=1:1 RLIMIT_NOFILE=" MILLION " RLIMIT_NPROC=" MILLION },
        { WORDS("--ulimit=host", "i"), true, 20000, 0, "" },
};

START_TEST(test_rows) {
        g_auto(SpecCase) c = spec_case();

        c.host.can_raise_limits = rows[_i].can_raise;
        c.host.nofile_hard = rows[_i].nofile_hard;
        c.host.nr_open = rows[_i].nr_open;

        g_autoptr(Spec) spec = expect_spec(&c, rows[_i].words);
        g_autofree char *text = describe(spec);
        ck_assert_str_eq(text, rows[_i].expected);
}
END_TEST

START_TEST(test_host_alone) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(build_spec(&c, WORDS("--ulimit=core=1", "--ulimit=host", "i"), &error));
        expect_error(error, KT_ERROR_USAGE, "'host' excludes other ulimits");
}
END_TEST

TEST_MAIN("spec-rlimits", {
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_host_alone);
})
