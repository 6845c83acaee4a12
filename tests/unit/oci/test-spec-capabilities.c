/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <linux/capability.h>

#include "tests/unit/oci/build-spec.h"

#define BIT(n) (G_GUINT64_CONSTANT(1) << (n))
#define DEFAULT                                                                                                \
        "[CAP_CHOWN][CAP_DAC_OVERRIDE][CAP_FOWNER][CAP_FSETID][CAP_KILL][CAP_SETGID][CAP_SETUID][CAP_SETPCAP]" \
        "[CAP_NET_BIND_SERVICE][CAP_SYS_CHROOT][CAP_SETFCAP]"
#define DEFAULT_BUT_KILL                                                                             \
        "[CAP_CHOWN][CAP_DAC_OVERRIDE][CAP_FOWNER][CAP_FSETID][CAP_SETGID][CAP_SETUID][CAP_SETPCAP]" \
        "[CAP_NET_BIND_SERVICE]"

/* Root's three sets are the same; anyone else's all but the bounding set are. Rows compared with Podman
 * 5.4.2. */
static const struct {
        uid_t uid;
        const char *const *words;
        const char *label; /* of the image */
        const char *bounding, *effective;
} rows[] = {
        { 0, WORDS("i"), NULL, DEFAULT, DEFAULT },
        { 1000, WORDS("i"), NULL, DEFAULT, "-" },
        { 1000, WORDS("--cap-add=net_raw,chown", "--cap-drop=kill", "i"), NULL,
          DEFAULT_BUT_KILL "[CAP_NET_RAW][CAP_SYS_CHROOT][CAP_SETFCAP]", "[CAP_CHOWN][CAP_NET_RAW]" },
        { 0, WORDS("--cap-drop=all", "--cap-add=kill", "i"), NULL, "[CAP_KILL]", "[CAP_KILL]" },
        { 1000, WORDS("--cap-drop=all", "--cap-add=kill", "i"), NULL, "[CAP_KILL]", "[CAP_KILL]" },
        { 0, WORDS("--cap-drop=all", "i"), NULL, "-", "-" },
        { 0, WORDS("i"), "io.containers.capabilities=CHOWN,KILL", "[CAP_CHOWN][CAP_KILL]", "[CAP_CHOWN][CAP_KILL]" },
        { 1000, WORDS("i"), "io.containers.capabilities=CHOWN,KILL", "[CAP_CHOWN][CAP_KILL]", "-" },
        { 0, WORDS("i"), "io.containers.capabilities=CHOWN,NET_RAW", DEFAULT, DEFAULT }, /* asks for more */
        { 0, WORDS("i"), "io.containers.capabilities=", DEFAULT, DEFAULT },
        { 0, WORDS("--label=io.containers.capabilities=KILL", "i"), "io.containers.capabilities=CHOWN", "[CAP_KILL]",
          "[CAP_KILL]" },
        { 0, WORDS("--cap-add=net_raw", "i"), "io.containers.capabilities=NET_RAW", "[CAP_NET_RAW]",
          "[CAP_NET_RAW]" },
        { 1000, WORDS("--cap-add=net_raw", "i"), "io.containers.capabilities=CHOWN", "[CAP_CHOWN]", "-" },
};

START_TEST(test_rows) {
        const char *const labels[] = { rows[_i].label, NULL };
        g_auto(SpecCase) c = spec_case();

        c.user.uid = rows[_i].uid;
        c.image.labels = (char **) labels;

        g_autoptr(Spec) spec = expect_spec(&c, rows[_i].words);
        const runtime_spec_schema_config_schema_process_capabilities *caps = spec->process->capabilities;

        expect_list(caps->bounding, rows[_i].bounding);
        expect_list(caps->effective, rows[_i].effective);
        expect_list(caps->permitted, rows[_i].effective);
        expect_list(caps->inheritable, rows[_i].uid == 0 ? "-" : rows[_i].effective);
        expect_list(caps->ambient, rows[_i].uid == 0 ? "-" : rows[_i].effective);
}
END_TEST

static guint64 find(const char *const *words, guint64 bounding) {
        const ImageConfig image = { 0 };
        HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(words);
        guint64 mask = 0;

        host.bounding_caps = bounding;
        ck_assert(spec_find_capabilities(&asked.request, &image, &host, &mask, NULL));
        return mask;
}

/* Nobody gets what libstart itself cannot pass on. */
START_TEST(test_bounding) {
        guint64 without_resource = CAPABILITY_ALL & ~BIT(CAP_SYS_RESOURCE);

        ck_assert_uint_eq(find(WORDS("--cap-add=all", "i"), CAPABILITY_ALL), CAPABILITY_ALL);
        ck_assert_uint_eq(find(WORDS("--cap-add=all", "i"), without_resource), without_resource);
        ck_assert_uint_eq(find(WORDS("--cap-add=all", "--cap-drop=sys_admin", "i"), without_resource),
                          without_resource & ~BIT(CAP_SYS_ADMIN));
        ck_assert_uint_eq(find(WORDS("--cap-drop=all", "--cap-add=sys_resource", "i"), without_resource), 0);
        ck_assert_uint_eq(find(WORDS("--privileged", "i"), without_resource), without_resource);
        ck_assert_uint_eq(find(WORDS("--privileged", "--cap-drop=sys_admin", "i"), without_resource),
                          without_resource & ~BIT(CAP_SYS_ADMIN));
        ck_assert_uint_eq(find(WORDS("--privileged", "--cap-drop=all", "--cap-add=chown", "i"), CAPABILITY_ALL),
                          BIT(CAP_CHOWN));
        ck_assert_uint_eq(find(WORDS("--privileged", "--cap-add=all", "--cap-drop=chown", "i"), CAPABILITY_ALL),
                          CAPABILITY_ALL);
        ck_assert_uint_eq(find(WORDS("i"), BIT(CAP_CHOWN) | BIT(CAP_SYS_ADMIN)), BIT(CAP_CHOWN));
}
END_TEST

static const struct {
        const char *const *words;
        const char *message;
} bad[] = {
        { WORDS("--cap-add=kill", "--cap-drop=KILL", "i"), "Capability 'CAP_KILL' is both added and dropped" },
        { WORDS("--cap-add=all", "--cap-drop=all", "i"), "both added and dropped" },
        { WORDS("--label=io.containers.capabilities=CHOWN,BOGUS", "i"), "no capability 'BOGUS'" },
};

START_TEST(test_bad) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(build_spec(&c, bad[_i].words, &error));
        expect_error(error, KT_ERROR_USAGE, bad[_i].message);
}
END_TEST

TEST_MAIN("spec-capabilities", {
        tcase_add_loop_test(tcase, test_rows, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_bounding);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
