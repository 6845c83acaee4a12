/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/cgroup-limits.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *setting, *of_service, *of_option;
        LimitChoice choice;
} cases[] = {
        { "MemoryMax", "1G", "1073741824", LIMIT_OF_SERVICE },
        { "MemoryMax", "1G", "1073741823", LIMIT_OF_OPTION },
        { "MemoryMax", "infinity", "1024", LIMIT_OF_OPTION },
        { "MemoryMax", "1K", "infinity", LIMIT_OF_SERVICE },
        { "MemorySwapMax", "0", "1024", LIMIT_OF_SERVICE },
        /* systemd ignores these, or only it knows how much they are */
        { "MemoryMax", "1g", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "0", "1024", LIMIT_UNKNOWN },
        { "MemoryHigh", "0", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "G", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "1GB", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "1G 1M", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "10%", "1024", LIMIT_UNKNOWN },
        { "MemoryMax", "-1", "1024", LIMIT_UNKNOWN },
        { "CPUQuota", "0%", "50.00%", LIMIT_UNKNOWN },
        { "CPUQuota", "-5%", "50.00%", LIMIT_UNKNOWN },
        { "CPUQuota", "5", "50.00%", LIMIT_UNKNOWN },
        { "CPUQuota", "20%", "50.00%", LIMIT_OF_SERVICE },
        { "CPUQuota", "200%", "50.00%", LIMIT_OF_OPTION },
        { "CPUWeight", "20", "100", LIMIT_OF_SERVICE },
        { "OOMPolicy", "stop", "kill", LIMIT_OF_SERVICE },
        { "TasksMax", "20", "10", LIMIT_OF_OPTION },
        { "TasksMax", "20%", "10", LIMIT_UNKNOWN },
        { "AllowedCPUs", "0", "0", LIMIT_OF_SERVICE },
        { "AllowedCPUs", "0", "1", LIMIT_UNKNOWN },
        { "OOMScoreAdjust", "5", "6", LIMIT_UNKNOWN },
};

START_TEST(chooses) {
        ck_assert_int_eq(cgroup_limits_choose(cases[_i].setting, cases[_i].of_service, cases[_i].of_option),
                         cases[_i].choice);
}
END_TEST

TEST_MAIN("cgroup-limits", { tcase_add_loop_test(tcase, chooses, 0, G_N_ELEMENTS(cases)); })
