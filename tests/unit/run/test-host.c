/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/statvfs.h>

#include "libstart/run/host.h"
#include "tests/unit/option/read-words.h"

START_TEST(test_sources) {
        g_auto(ReadWords) asked = read_words(
                WORDS("-v/proc:/x", "--tmpfs=/y", "--device=-/dev/no-thing", "--device=/dev/null:/n:m", "i"));
        g_auto(Host) host = { 0 };
        struct statvfs st;

        ck_assert_int_eq(statvfs("/proc", &st), 0);
        ck_assert(host_find_sources(&host, &asked.request, NULL));
        ck_assert_uint_eq(host.facts.source_flags[0], st.f_flag);
        ck_assert_uint_eq(host.facts.source_flags[1], 0);
        ck_assert_uint_eq(host.facts.device_nodes->len, 1);
        ck_assert_str_eq(((const DeviceNode *) host.facts.device_nodes->pdata[0])->destination, "/n");
}
END_TEST

static const struct {
        const char *option;
        ErrorCode code;
        const char *message;
} bad[] = {
        { "-v/no/thing:/data", KT_ERROR_NOT_FOUND,
          "on the container's '/data' (Volume=, Mount=): '/no/thing' is not there; create it" },
        { "-v/dev/null/x:/data", KT_ERROR_FAILED, "Cannot mount '/dev/null/x' on the container's '/data': " },
        { "--device=/dev/no-thing", KT_ERROR_NOT_FOUND, "'/dev/no-thing' is not there" },
};

START_TEST(test_bad) {
        g_auto(ReadWords) asked = read_words(WORDS(bad[_i].option, "i"));
        g_autoptr(GError) error = NULL;
        g_auto(Host) host = { 0 };

        ck_assert(!host_find_sources(&host, &asked.request, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

TEST_MAIN("host", {
        tcase_add_test(tcase, test_sources);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
