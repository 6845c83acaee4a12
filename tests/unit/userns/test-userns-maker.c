/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/userns/userns-maker.h"
#include "tests/unit/base/expect-error.h"

START_TEST(test_find) {
        static const char *const units[] = { "", "web", "web@1", "web@2", "\xff\xfe", "a-long-name-of-a-service" };

        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
                uid_t maker = userns_maker_find(units[i]);

                ck_assert(maker >= USERNS_MAKER_FIRST && maker - USERNS_MAKER_FIRST < USERNS_MAKERS);
                for (size_t j = 0; j < i; j++)
                        ck_assert_uint_ne(maker, userns_maker_find(units[j]));
        }
}
END_TEST

typedef struct Rights {
        uid_t real, effective, saved;
        struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
} Rights;

static Rights find_rights(void) {
        struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
        Rights rights = { 0 };

        ck_assert_int_eq(getresuid(&rights.real, &rights.effective, &rights.saved), 0);
        ck_assert_int_eq(syscall(SYS_capget, &header, rights.caps), 0);
        return rights;
}

/* Only the effective id is another one, for a while. */
START_TEST(test_become) {
        Rights before = find_rights(), meanwhile, after;
        uid_t maker = userns_maker_find("web");

        ck_assert(userns_maker_become(maker, NULL));
        meanwhile = find_rights();
        userns_maker_leave(maker);
        after = find_rights();
        ck_assert_uint_eq(meanwhile.effective, maker);
        meanwhile.effective = before.effective;
        ck_assert(memcmp(&meanwhile, &before, sizeof before) == 0);
        ck_assert(memcmp(&after, &before, sizeof before) == 0);
}
END_TEST

START_TEST(test_root) {
        ck_assert(userns_maker_become(0, NULL));
        ck_assert_uint_eq(geteuid(), 0);
        userns_maker_leave(0);
        ck_assert_uint_eq(geteuid(), 0);
}
END_TEST

TEST_MAIN("userns-maker", {
        tcase_add_test(tcase, test_find);
        tcase_add_test(tcase, test_become);
        tcase_add_test(tcase, test_root);
})
