/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/container/container-units.h"
#include "tests/unit/base/expect-error.h"

static const struct {
        const char *words[8];
        const char *image; /* NULL: it is no container */
        bool is_refused;
} lines[] = {
        { { NULL }, NULL, false },
        { { "/bin/true" }, NULL, false },
        { { "/usr/lib/keyturn/libstart" }, NULL, false },
        { { "/usr/lib/keyturn/libstart", "volume", "run" }, NULL, false },
        { { "/usr/lib/keyturn/notlibstart", "run", "--name=a", "i" }, NULL, false },
        { { "libstart", "run", "--name=a", "i" }, NULL, false },
        { { "/usr/lib/keyturn/libstart", "run", "--name", "a", "i" }, "i", false },
        { { "/usr/lib/keyturn/libstart", "run", "--name=a", "--", "i", "--name" }, "i", false },
        { { "/usr/lib/keyturn/libstart", "run", "--name=a", "${IMAGE}" }, "${IMAGE}", false },
        { { "/usr/lib/keyturn/libstart", "refuse" }, NULL, false },
        { { "/usr/lib/keyturn/libstart", "refuse", "a.service" }, NULL, false },
        { { "/usr/lib/keyturn/libstart", "refuse", "a.service", "--name", "a", "i" }, "i", true },
};

START_TEST(test_words) {
        ContainerUnit container = { 0 };

        ck_assert(container_unit_read_words(&container, (char **) lines[_i].words, NULL));
        ck_assert_pstr_eq(container.args ? container.args->image : NULL, lines[_i].image);
        ck_assert_pstr_eq(container.args ? container.args->name : NULL, lines[_i].image ? "a" : NULL);
        ck_assert(container.is_refused == lines[_i].is_refused);
        launch_args_free(container.args);
}
END_TEST

static const struct {
        const char *words[6];
        const char *error;
} wrong[] = {
        { { "/usr/lib/keyturn/libstart", "run" }, "the image is missing" },
        { { "/usr/lib/keyturn/libstart", "run", "--name=a" }, "the image is missing" },
        { { "/usr/lib/keyturn/libstart", "run", "--nonsense", "i" }, "unknown option '--nonsense'" },
        { { "/usr/lib/keyturn/libstart", "run", "i" }, "its ExecStart= has no --name" },
        { { "/usr/lib/keyturn/libstart", "refuse", "a.service", "i" }, "its ExecStart= has no --name" },
};

START_TEST(test_wrong) {
        g_autoptr(GError) error = NULL;
        ContainerUnit container = { 0 };

        ck_assert(!container_unit_read_words(&container, (char **) wrong[_i].words, &error));
        expect_error(error, KT_ERROR_USAGE, wrong[_i].error);
        launch_args_free(container.args);
}
END_TEST

TEST_MAIN("ctl/container/container-units", {
        tcase_add_loop_test(tcase, test_words, 0, G_N_ELEMENTS(lines));
        tcase_add_loop_test(tcase, test_wrong, 0, G_N_ELEMENTS(wrong));
})
