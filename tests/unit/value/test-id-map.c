/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/id-map.h"
#include "tests/unit/base/parse-tests.h"

/* Several values with blanks between them, as UIDMap= has them. What Podman 5.4 makes of each was seen in
 * /proc/self/uid_map. */
static const GoodValue good[] = {
        { "0:100000:1000", "0 100000 1000\n" },
        { "0:100000", "0 100000 1\n" },
        { "0:0:4294967295", "0 0 4294967295\n" },
        { "0:@0:100", "0 0 100\n" },
        { "u0:7:100", "0 7 100\n" },
        { "ug0:7:100", "0 7 100\n" },
        { "g0:9:100 u0:7:100", "0 7 100\n" },
        { "10:100000:1000 0:200000:1 1:300000:2", "0 200000 1\n1 300000 2\n10 100000 1000\n" },
        { "0:7:100,200:400:3", "0 7 100\n200 400 3\n" },
        { "0:7:100:200:400:3", "0 7 100\n200 400 3\n" },
        { "0:7:100 +7:@9:1", "0 7 2\n3 10 4\n7 9 1\n8 15 92\n" },
        { "0:7:100 +0:7:100", "0 7 100\n" },
        { "0:7:100 +50:1000:100", "0 7 50\n50 1000 100\n" },
        { "1:10:5 +0:500:3", "0 500 3\n3 12 3\n" },
        { "+0:1:1 +1:2:1", "0 1 2\n" },
        { "0:7:0 0:5:1", "0 5 1\n" },
        { "0:4294967294", "0 4294967294 1\n" },
};

static const BadValue bad[] = {
        { "0", KT_ERROR_USAGE, "is not CONTAINER-ID:HOST-ID[:COUNT]" },
        { "0:1:2:3", KT_ERROR_USAGE, "is not CONTAINER-ID:HOST-ID[:COUNT]" },
        { "a:7:1", KT_ERROR_USAGE, "with numbers below" },
        { "0:7:x", KT_ERROR_USAGE, "with numbers below" },
        { ":7:1", KT_ERROR_USAGE, "with numbers below" },
        { "0::1", KT_ERROR_USAGE, "with numbers below" },
        { "0:-1:1", KT_ERROR_USAGE, "with numbers below" },
        { "0:4294967295", KT_ERROR_USAGE, "with numbers below" },
        { "0:4294967294:2", KT_ERROR_USAGE, "with numbers below" },
        { "x0:1:1", KT_ERROR_USAGE, "with numbers below" },
        { "", KT_ERROR_USAGE, "none for the container's 0" },
        { "5:100000", KT_ERROR_USAGE, "none for the container's 0" },
        { "+999:0:1", KT_ERROR_USAGE, "write all of the ids" },
        { "g0:7:100", KT_ERROR_USAGE, "none for the container's 0" },
        { "0:7:100 7:9:1", KT_ERROR_USAGE, "write +7:9:1" },
        { "0:7:100 200:50:1", KT_ERROR_USAGE, "some of the same ids" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(GArray) map = id_map_new();
        g_auto(GStrv) words = g_strsplit(value, " ", -1);

        for (char **word = words; *word; word++)
                if (!id_map_parse(map, ID_UID, *word, error))
                        return NULL;
        return id_map_finish(map, ID_UID, error) ? id_map_format(map) : NULL;
}

PARSE_TESTS(parse)

START_TEST(test_extents_are_limited) {
        g_autoptr(GArray) map = id_map_new();
        g_autoptr(GError) error = NULL;

        for (guint32 i = 0; i < 341; i++) {
                IdExtent extent = { 2 * i, 3 * i, 1 };

                g_array_append_val(map, extent);
        }
        ck_assert(!id_map_finish(map, ID_GID, &error));
        expect_error(error, KT_ERROR_USAGE, "map of group ids has 341 extents");
        g_array_set_size(map, 340);
        ck_assert(id_map_finish(map, ID_GID, NULL));
}
END_TEST

START_TEST(test_ids_are_looked_up) {
        g_autoptr(GArray) map = id_map_new();
        guint32 id = 77;

        ck_assert(id_map_parse(map, ID_UID, "0:100000:10,20:5:1,0:@0:0", NULL) && id_map_finish(map, ID_UID, NULL));
        ck_assert(id_map_outside(map, 0, &id) && id == 100000);
        ck_assert(id_map_outside(map, 9, &id) && id == 100009);
        ck_assert(id_map_outside(map, 20, &id) && id == 5);
        ck_assert(!id_map_outside(map, 10, &id) && !id_map_outside(map, G_MAXUINT32, &id) && id == 5);
        ck_assert(!id_map_is_identity(map));
}
END_TEST

TEST_MAIN("id-map", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_extents_are_limited);
        tcase_add_test(tcase, test_ids_are_looked_up);
})
