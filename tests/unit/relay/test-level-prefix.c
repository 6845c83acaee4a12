/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/relay/level-prefix.h"
#include "tests/unit/test-main.h"

/* What journald would read as the level at `line`; -1: no prefix. */
static int level_of(const char *line, const char *end) {
        const char *close = memchr(line, '>', (size_t) (end - line));
        int level = 0;

        if (line == end || *line != '<' || !close || close - line < 2 || close - line > 4)
                return -1;
        for (const char *p = line + 1; p < close; p++) {
                if (!g_ascii_isdigit(*p))
                        return -1;
                level = level * 10 + *p - '0';
        }
        return level > 7 ? -1 : level;
}

/* Send it in batches of this size; returns what goes out. */
static GString *send_in(const char *text, gsize size, gsize batch, LevelPrefix prefix) {
        GString *out = g_string_new(NULL);

        for (gsize at = 0; at < size; at += batch) {
                gsize n = MIN(batch, size - at);
                g_autofree char *data = g_memdup2(text + at, n);

                level_prefix_lower(&prefix, data, n);
                level_prefix_sent(&prefix, data, n);
                g_string_append_len(out, data, (gssize) n);
        }
        return out;
}

static const struct {
        const char *in, *out;
} texts[] = {
        { "<0>a\n", "<1>a\n" },
        { "<00>a\n", "<01>a\n" },
        { "<000>a\n", "<001>a\n" },
        { "a\n<0>b\n<3>c\n<0>d", "a\n<1>b\n<3>c\n<1>d" },
        { "<0><0>a\n", "<1><0>a\n" },
        /* No prefixes, or no emergencies. */
        { "<1>a\n<7>b\n<10>c\n<07>d\n", "<1>a\n<7>b\n<10>c\n<07>d\n" },
        { "<0000>a\n<>b\n<0a>c\n<a0>d\n< 0>e\n <0>f\n", "<0000>a\n<>b\n<0a>c\n<a0>d\n< 0>e\n <0>f\n" },
        { "std::get<0>(x)\nab<0>\n", "std::get<0>(x)\nab<0>\n" },
        { "0>a\n", "0>a\n" },
        { "<<0>a\n", "<<0>a\n" },
        /* It could go on. */
        { "a\n<0", "a\n<1" },
        { "", "" },
        { "<", "<" },
};

START_TEST(test_texts) {
        const char *in = texts[_i].in;
        g_autoptr(GString) out = send_in(in, strlen(in), G_MAXUINT16, (LevelPrefix) { 0 });

        ck_assert_str_eq(out->str, texts[_i].out);
}
END_TEST

START_TEST(test_nul_ends_a_line) {
        static const char in[] = "a\0<0>b\n", expected[] = "a\0<1>b\n";
        g_autoptr(GString) out = send_in(in, sizeof in - 1, G_MAXUINT16, (LevelPrefix) { 0 });

        ck_assert_mem_eq(out->str, expected, sizeof expected - 1);
}
END_TEST

/* However the bytes come, no line of theirs is an emergency, be it only that journald begins one with a batch. */
START_TEST(test_batches) {
        static const char alphabet[] = "<00>01a\n";
        g_autoptr(GRand) random = g_rand_new_with_seed(4711);
        char text[24];

        for (int round = 0; round < 30000; round++) {
                gsize batch = (gsize) g_rand_int_range(random, 1, 8);
                g_autoptr(GString) out = NULL;

                for (gsize i = 0; i < sizeof text; i++)
                        text[i] = alphabet[g_rand_int_range(random, 0, sizeof alphabet - 1)];
                out = send_in(text, sizeof text, batch, (LevelPrefix) { 0 });
                for (gsize i = 0; i < out->len; i++)
                        if (i == 0 || out->str[i - 1] == '\n' || i % batch == 0)
                                ck_assert_msg(level_of(out->str + i, out->str + out->len) != 0,
                                              "'%.24s' in batches of %d became '%s'", text, (int) batch, out->str);
        }
}
END_TEST

/* journald breaks a line that is too long for it, and looks for a prefix again. */
START_TEST(test_long_line) {
        g_autofree char *long_line = g_strnfill(100000, 'x');
        gsize size = strlen(long_line);

        for (gsize at = 1024; at + 3 < size; at += 1001)
                memcpy(long_line + at, "<0>", 3);
        for (gsize batch = 1000; batch < size; batch *= 3) {
                g_autoptr(GString) out = send_in(long_line, size, batch, (LevelPrefix) { 0 });

                ck_assert_ptr_null(strstr(out->str, "<0>"));
        }
}
END_TEST

/* Our predecessor was killed after it had sent the first byte. */
START_TEST(test_unknown_begin) {
        g_autoptr(GString) out = send_in("0>a\n0>b\n", 8, G_MAXUINT16, LEVEL_PREFIX_UNKNOWN);

        ck_assert_str_eq(out->str, "1>a\n0>b\n");
}
END_TEST

/* The receiver took a part, and the payload exchanged the rest. */
START_TEST(test_exchanged) {
        LevelPrefix prefix = { 0 };
        char first[] = "<0x", second[] = ">a\n";

        level_prefix_lower(&prefix, first, 3);
        ck_assert_str_eq(first, "<0x");
        level_prefix_sent(&prefix, first, 2);
        level_prefix_lower(&prefix, second, 3);
        ck_assert_str_eq(second, ")a\n");
}
END_TEST

TEST_MAIN("level-prefix", {
        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_texts, 0, G_N_ELEMENTS(texts));
        tcase_add_test(tcase, test_nul_ends_a_line);
        tcase_add_test(tcase, test_batches);
        tcase_add_test(tcase, test_long_line);
        tcase_add_test(tcase, test_unknown_begin);
        tcase_add_test(tcase, test_exchanged);
})
