/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/profile/samples.h"
#include "tests/unit/test-main.h"

/* A start, as perf 6.12 has written it down, shortened. */
static const char *const start[] = {
        "systemd       0/0     PERF_RECORD_COMM: systemd:1/1",
        "systemd       1/1     PERF_RECORD_FORK(68:68):(1:1)",
        "systemd      68/68 ",
        "\tffffffff816c8064 __x64_sys_execve ([kernel.kallsyms])",
        "\t           d4ad7 execve (/usr/lib/x86_64-linux-gnu/libc.so.6)",
        "",
        "8      68/68    PERF_RECORD_COMM exec: 8:68/68",
        "(libstart)      68/68    PERF_RECORD_COMM: (libstart):68/68",
        "libstart      68/68   PERF_RECORD_COMM exec: libstart:68/68",
        "libstart      68/68 ",
        "\t          4a2b10 image_find (/usr/lib/keyturn/libstart)",
        "\t          4a2a00 main (/usr/lib/keyturn/libstart)",
        "",
        "libstart      68/68  PERF_RECORD_FORK(71:71):(68:68)",
        "keyturn      71/71 PERF_RECORD_COMM: keyturn:71/71",
        "sleep      71/71 PERF_RECORD_COMM exec: sleep:71/71",
        "sleep      71/71 ",
        "\t           12345 nanosleep (/bin/busybox)",
        "\t           12346 main (/bin/busybox)",
        "\tffffffffffffff00 [unknown] ([unknown])",
        "",
        "swapper     0/0 ",
        "\tffffffff821f4dab pv_native_safe_halt ([kernel.kallsyms])",
        "\tffffffff813c59a6 do_idle ([kernel.kallsyms])",
        "",
        "sshd     0/0 ",
        "\tffffffff821f4dab vfs_read ([kernel.kallsyms])",
        NULL,
};

static Samples *read_lines(const char *const *lines) {
        Samples *samples = samples_new();

        for (; *lines; lines++)
                samples_add_line(samples, *lines);
        samples_end(samples);
        return samples;
}

/* "libstart/libstart/main"; NULL: there is none. */
static const FlameFrame *look(const Samples *samples, const char *path) {
        g_auto(GStrv) names = g_strsplit(path, ">", -1);
        const FlameFrame *frame = samples->root;

        for (char **name = names; *name && frame; name++)
                frame = flame_find(frame, *name);
        return frame;
}

static guint64 count(const Samples *samples, const char *path) {
        const FlameFrame *frame = look(samples, path);

        return frame ? frame->samples : 0;
}

START_TEST(test_start) {
        g_autoptr(Samples) samples = read_lines(start);

        ck_assert_uint_eq(samples->root->samples, 5);
        ck_assert_uint_eq(count(samples, "systemd-executor>systemd>execve>__x64_sys_execve"), 1);
        ck_assert(look(samples, "systemd-executor>systemd>execve>__x64_sys_execve")->is_kernel);
        ck_assert(!look(samples, "systemd-executor>systemd>execve")->is_kernel);
        ck_assert_uint_eq(look(samples, "libstart>libstart>main>image_find")->self, 1);
        ck_assert_uint_eq(look(samples, "libstart>libstart>main")->self, 0);
        ck_assert_uint_eq(count(samples, "idle"), 1);
        ck_assert_ptr_null(look(samples, "idle")->children);
        ck_assert_uint_eq(count(samples, "others>(of another PID namespace)>vfs_read"), 1);
        ck_assert(samples->has_libstart_names && !samples->lacks_libstart_names);
}
END_TEST

/* Its files are not the host's, so names that perf has found at the same path would be wrong. */
START_TEST(test_payload_has_files_for_functions) {
        g_autoptr(Samples) samples = read_lines(start);
        const FlameFrame *sleep = look(samples, "payload>sleep");

        ck_assert_ptr_nonnull(sleep);
        ck_assert_uint_eq(g_hash_table_size(sleep->children), 1);
        ck_assert_uint_eq(look(samples, "payload>sleep>[busybox]")->self, 1);
}
END_TEST

/* Whatever it calls itself, executes and forks. */
START_TEST(test_payload_stays_one) {
        g_autoptr(Samples) samples = read_lines((const char *const[]) {
                "libstart 5/5 PERF_RECORD_FORK(6:6):(1:1)",
                "x 6/6 PERF_RECORD_COMM exec: 8:6/6",
                "x 6/6 PERF_RECORD_COMM: (libstart):6/6",
                "x 6/6 PERF_RECORD_COMM exec: libstart:6/6",
                "x 6/6 PERF_RECORD_COMM: keyturn:6/6",
                "x 6/6 PERF_RECORD_COMM exec: sh:6/6",
                "x 6/6 PERF_RECORD_COMM: (x):6/6",
                "x 6/6 PERF_RECORD_COMM exec: libstart:6/6",
                "x 6/6 PERF_RECORD_FORK(7:7):(6:6)",
                "x 7/7 PERF_RECORD_COMM: a b: 1/1:7/7",
                "a b: 1/1 7/7 ",
                "",
                "libstart 6/9 ",
                NULL,
        });

        ck_assert_uint_eq(count(samples, "payload>a b: 1/1"), 1);
        ck_assert_uint_eq(count(samples, "payload>libstart"), 1);
        ck_assert_uint_eq(samples->root->samples, 2);
}
END_TEST

/* What /proc has said counts, until the process has ended and its number is another one's. */
START_TEST(test_known_before) {
        g_autoptr(Samples) samples = samples_new();

        parts_set(samples->parts, 50, PART_PAYLOAD, true);
        for (const char *const *line =
                     (const char *const[]) {
                             "x 0/0 PERF_RECORD_FORK(50:50):(1:1)",
                             "x 0/0 PERF_RECORD_COMM: redis:50/50",
                             "x 0/0 PERF_RECORD_FORK(12:12):(1:1)",
                             "x 0/0 PERF_RECORD_COMM: keyturn-relay:12/12",
                             "x 0/0 PERF_RECORD_FORK(13:13):(2:2)",
                             "x 0/0 PERF_RECORD_COMM: kworker/0:0H-ev:13/13",
                             "redis 50/51 ",
                             "",
                             "keyturn-relay 12/12 ",
                             "kworker/0:0H-ev 13/13 ",
                             "redis 50/51 PERF_RECORD_EXIT(50:51):(50:50)",
                             "redis 50/50 ",
                             "redis 50/50 PERF_RECORD_EXIT(50:50):(1:1)",
                             "x 1/1 PERF_RECORD_FORK(50:50):(1:1)",
                             "systemd 50/50 ",
                             NULL,
                     };
             *line; line++)
                samples_add_line(samples, *line);
        samples_end(samples);
        ck_assert_uint_eq(count(samples, "payload>redis"), 2);
        ck_assert_uint_eq(count(samples, "relay>keyturn-relay"), 1);
        ck_assert_uint_eq(count(samples, "kernel threads>kworker"), 1);
        ck_assert_uint_eq(count(samples, "systemd-executor"), 1);
}
END_TEST

/* perf escapes nothing. */
static const char *const strange[] = {
        "",
        " ",
        "\t",
        "\t\t\t",
        "\tx",
        "\tx (",
        "\t(",
        "\t( )",
        "\tffffffff821f4dab ",
        "\tffffffff821f4dab (x",
        "a",
        "a/b",
        " 1/",
        "x -1/-1 ",
        "x 99999999999999999999/1",
        "x 1/1 PERF_RECORD_",
        "x PERF_RECORD_COMM",
        "x PERF_RECORD_COMM:",
        "x PERF_RECORD_COMM exec: ",
        "x PERF_RECORD_COMM: :",
        "x PERF_RECORD_COMM: :1/1",
        "x PERF_RECORD_FORK(",
        "x PERF_RECORD_FORK(-5:-5):(-7:1)",
        "x PERF_RECORD_FORK(5:5):(5:5)",
        "x PERF_RECORD_EXIT(-1:-1)",
        "\xff\xfe 3/3 ",
};

START_TEST(test_strange) {
        g_autoptr(Samples) samples = read_lines((const char *const[]) {
                strange[_i], strange[_i], "x 3/3 ", strange[_i], strange[_i], "", "libstart 4/4 ", NULL });

        ck_assert_uint_ge(samples->root->samples, 2);
        ck_assert_uint_le(samples->root->samples, 6);
}
END_TEST

TEST_MAIN("samples", {
        tcase_add_test(tcase, test_start);
        tcase_add_test(tcase, test_payload_has_files_for_functions);
        tcase_add_test(tcase, test_payload_stays_one);
        tcase_add_test(tcase, test_known_before);
        tcase_add_loop_test(tcase, test_strange, 0, G_N_ELEMENTS(strange));
})
