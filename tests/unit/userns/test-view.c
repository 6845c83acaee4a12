/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/store-conf.h"
#include "libstart/userns/view.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *own, *graph_root, *stores;
} good[] = {
        { NULL, "/home/a/.local/share/containers/storage", "" },
        { "[storage]\ndriver = \"overlay\"\n", "/home/a/.local/share/containers/storage", "" },
        { "[storage]\ngraphroot = \"/srv/a \\\"b\\\"\"\n", "/srv/a \"b\"", "" },
        { "[storage]\n[storage.options]\nadditionalimagestores = [\"/srv/x\", \"/srv/y\"]\n",
          "/home/a/.local/share/containers/storage", "/srv/x /srv/y" },
};

/* What is printed, the reader of the store understands. */
START_TEST(test_storage_conf) {
        g_autofree char *conf = view_storage_conf(good[_i].own, "x", "/home/a/.local/share", NULL), *stores = NULL;
        g_autoptr(StoreSettings) settings = store_settings_new();

        ck_assert_ptr_nonnull(conf);
        ck_assert(store_settings_apply(settings, conf, strlen(conf), "made", NULL));
        ck_assert_str_eq(settings->graph_root, good[_i].graph_root);
        stores = settings->additional_stores ? g_strjoinv(" ", settings->additional_stores) : g_strdup("");
        ck_assert_str_eq(stores, good[_i].stores);
}
END_TEST

START_TEST(test_broken) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(view_storage_conf("[storage\n", "/home/a/storage.conf", "/home/a", &error));
        ck_assert_ptr_nonnull(strstr(error->message, "/home/a/storage.conf"));
}
END_TEST

TEST_MAIN("userns/view", {
        tcase_add_loop_test(tcase, test_storage_conf, 0, G_N_ELEMENTS(good));
        tcase_add_test(tcase, test_broken);
})
