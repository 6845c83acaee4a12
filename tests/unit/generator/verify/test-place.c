/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "generator/verify/place.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *text, *message;
        guint line, found_line, column;
} places[] = {
        { "A=x y\n", "'y' is wrong", 1, 1, 5 },
        { "A=x y\n", "is wrong", 1, 1, 3 },
        { "  A =  x y\n", "is wrong", 1, 1, 8 },
        { "A=\n", "is missing", 1, 1, 1 },
        { "A=x\n", "unknown key in [Container]", 1, 1, 1 },
        { "  A=x\n", "Unknown key 'A' in section [Unit], ignoring.", 1, 1, 3 },
        { "  A=x\n", "not supported: 'x' is Podman's", 1, 1, 3 },
        { "\n  word\n", "neither a key nor a section", 2, 2, 3 },
        /* Characters are counted, not bytes. */
        { "A=\303\266\303\244 y\n", "'y' is wrong", 1, 1, 6 },
        /* The key is no part of the value, and an apostrophe no quote. */
        { "yes=no yes\n", "'yes' is wrong", 1, 1, 8 },
        { "A=x y\n", "it isn't 'y' that's right", 1, 1, 5 },
        /* Lines that are continued; and the one behind is another. */
        { "A=x \\\n  y\nB=z\n", "'y' is wrong", 1, 2, 3 },
        { "A=x \\\n  y\nB=z\n", "'z' is wrong", 1, 1, 3 },
        { "A=x\nB=z\n", "'z' is wrong", 1, 1, 3 },
        /* The file has changed since. */
        { "A=x\n", "is wrong", 9, 9, 1 },
        { "", "is wrong", 1, 1, 1 },
};

START_TEST(test_place) {
        guint line = places[_i].line;

        ck_assert_uint_eq(place_find(places[_i].text, places[_i].message, &line), places[_i].column);
        ck_assert_uint_eq(line, places[_i].found_line);
}
END_TEST

static const struct {
        const char *message, *rest;
        guint column;
} messages[] = {
        { "column 4: did not find expected key", "did not find expected key", 4 },
        { "did not find expected key", "did not find expected key", 0 },
        { "column four: x", "column four: x", 0 },
        { "column 4", "column 4", 0 },
        { "column 99999999999: x", "column 99999999999: x", 0 },
};

START_TEST(test_take_column) {
        const char *message = messages[_i].message;

        ck_assert_uint_eq(place_take_column(&message), messages[_i].column);
        ck_assert_str_eq(message, messages[_i].rest);
}
END_TEST

TEST_MAIN("place", {
        tcase_add_loop_test(tcase, test_place, 0, G_N_ELEMENTS(places));
        tcase_add_loop_test(tcase, test_take_column, 0, G_N_ELEMENTS(messages));
})
