/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/podman-containers.h"
#include "tests/unit/test-main.h"

#define ONE "5a03ea3bfb9fcc4ba2f2c6bd9df3f4aa6cfeb3b3d4c8bde2c0e9f4a4e58d1c01"
#define TWO "5a03ea3bfb9fcc4ba2f2c6bd9df3f4aa6cfeb3b3d4c8bde2c0e9f4a4e58d1c02"

static const struct {
        const char *text, *name, *id, *error;
} cases[] = {
        { "", "one", NULL },
        { "[]", "one", NULL },
        { "[{\"id\":\"" ONE "\",\"names\":[\"first\",\"one\"],\"layer\":\"" TWO "\"}]", "one", ONE },
        { "[{\"id\":\"" ONE "\",\"names\":[\"first\"]},{\"id\":\"" TWO "\",\"names\":[\"one\"]}]", "one", TWO },
        { "[{\"id\":\"" ONE "\",\"names\":[\"one\"]}]", ONE, ONE },
        { "[{\"id\":\"" ONE "\",\"names\":[\"one\"]}]", "on", NULL },
        { "[{\"id\":\"" ONE "\",\"names\":[1,null,{}]},7]", "one", NULL },
        { "[{\"id\":\"../../etc\",\"names\":[\"one\"]}]", "one", NULL, "id of 'one' is none" },
        { "[{\"names\":[\"one\"]}]", "one", NULL, "id of 'one' is none" },
        { "[{", "one", NULL, "" },
};

START_TEST(finds) {
        g_autofree char *id = NULL;
        g_autoptr(GError) error = NULL;
        bool ok = podman_container_parse(cases[_i].text, strlen(cases[_i].text), cases[_i].name, &id, &error);

        ck_assert(ok == !cases[_i].error);
        ck_assert_pstr_eq(id, cases[_i].id);
        if (!ok)
                ck_assert_ptr_nonnull(strstr(error->message, cases[_i].error));
}
END_TEST

TEST_MAIN("podman-containers", { tcase_add_loop_test(tcase, finds, 0, G_N_ELEMENTS(cases)); })
