/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/used-ids.h"
#include "libstart/userns/dynamic-ids.h"
#include "libstart/userns/subid.h"
#include "tests/unit/test-main.h"

#define PLACES ((DYNAMIC_IDS_END - DYNAMIC_IDS_FIRST) / DYNAMIC_IDS_COUNT)

static GArray *ranges(guint n, const IdRange *from) {
        GArray *array = g_array_new(FALSE, FALSE, sizeof(IdRange));

        g_array_append_vals(array, from, n);
        return array;
}

START_TEST(test_every_place_is_within_the_range) {
        static const guint32 dice[] = { 0, 1, PLACES - 1, PLACES, 12345, G_MAXUINT32 };
        g_autoptr(GArray) none = ranges(0, NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(dice); i++) {
                guint32 first;

                ck_assert(dynamic_ids_choose(none, dice[i], &first));
                ck_assert(first >= DYNAMIC_IDS_FIRST && first <= DYNAMIC_IDS_END - DYNAMIC_IDS_COUNT);
                ck_assert_uint_eq(first % DYNAMIC_IDS_COUNT, 0);
        }
}
END_TEST

START_TEST(test_what_is_used_is_passed_over) {
        static const IdRange taken[] = {
                { DYNAMIC_IDS_FIRST + 65535, 1 },
                { DYNAMIC_IDS_FIRST + 65536, 65536 },
                { DYNAMIC_IDS_FIRST + 4 * 65536, 1 },
                { DYNAMIC_IDS_END - 1, 100000 },
        };
        g_autoptr(GArray) used = ranges(G_N_ELEMENTS(taken), taken);
        guint32 first;

        ck_assert(dynamic_ids_choose(used, 0, &first) && first == DYNAMIC_IDS_FIRST + 2 * 65536);
        ck_assert(dynamic_ids_choose(used, 3, &first) && first == DYNAMIC_IDS_FIRST + 3 * 65536);
        ck_assert(dynamic_ids_choose(used, 4, &first) && first == DYNAMIC_IDS_FIRST + 5 * 65536);
        ck_assert(dynamic_ids_choose(used, PLACES - 1, &first) && first == DYNAMIC_IDS_FIRST + 2 * 65536);
}
END_TEST

START_TEST(test_all_used_is_an_end) {
        static const IdRange all[] = { { 0, G_MAXUINT32 } };
        g_autoptr(GArray) used = ranges(1, all);
        guint32 first;

        ck_assert(!dynamic_ids_choose(used, 5, &first));
}
END_TEST

START_TEST(test_accounts_and_everybodys_subids) {
        g_autoptr(GArray) used = ranges(0, NULL);
        g_autoptr(GArray) subids = subid_parse("a:5:6\nb:7:8\nbroken\n", NULL);

        dynamic_ids_add_accounts("a:x:2000683009:5::/:/bin/sh\n:\nb:x:-1\nc:x:12:m\n", used);
        ck_assert_uint_eq(used->len, 2);
        ck_assert_uint_eq(g_array_index(used, IdRange, 0).first, 2000683009U);
        ck_assert_uint_eq(g_array_index(used, IdRange, 1).count, 1);
        ck_assert_uint_eq(subids->len, 2);
}
END_TEST

TEST_MAIN("dynamic-ids", {
        tcase_add_test(tcase, test_every_place_is_within_the_range);
        tcase_add_test(tcase, test_what_is_used_is_passed_over);
        tcase_add_test(tcase, test_all_used_is_an_end);
        tcase_add_test(tcase, test_accounts_and_everybodys_subids);
})
