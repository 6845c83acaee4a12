/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/store-conf.h"
#include "libstart/userns/view.h"
#include "tests/unit/test-main.h"

static const char *const variables[] = { "HOME=/home/a", "USER=a", "UID=1000", NULL };

static const struct {
        const char *own, *graph_root, *stores, *machines;
} good[] = {
        { NULL, "/home/a/.local/share/containers/storage", "" },
        { "[storage]\ndriver = \"overlay\"\n", "/home/a/.local/share/containers/storage", "" },
        { "[storage]\ngraphroot = \"/srv/a \\\"b\\\"\"\n", "/srv/a \"b\"", "" },
        { "[storage]\n[storage.options]\nadditionalimagestores = [\"/srv/x\", \"/srv/y\"]\n",
          "/home/a/.local/share/containers/storage", "/srv/x /srv/y" },
        { "[storage]\ngraphroot = \"$HOME/${USER}-$UID/x\"\n", "/home/a/a-1000/x", "" },
        { "[storage]\nrootless_storage_path = \"/srv/$USER\"\n", "/srv/a", "", "/srv/machines" },
        { "[storage]\nrootless_storage_path = \"/srv/$USER\"\ngraphroot = \"/srv/b\"", "/srv/b", "" },
        { "[storage]\ndriver = \"overlay\"\n", "/srv/machines", "", "/srv/machines" },
        { NULL, "/srv/machines", "", "/srv/machines" },
};

/* What is printed, the reader of the store understands. */
START_TEST(test_storage_conf) {
        g_autoptr(StoreSettings) settings = store_settings_new(), users = store_settings_new();
        g_autofree char *conf = NULL, *stores = NULL;

        users->variables = g_strdupv((char **) variables);
        users->rootless_path = g_strdup(good[_i].machines);
        conf = view_storage_conf(users, good[_i].own, "x", "/home/a/.local/share", NULL);
        ck_assert_ptr_nonnull(conf);
        ck_assert(store_settings_apply(settings, conf, strlen(conf), "made", NULL));
        ck_assert_str_eq(settings->graph_root, good[_i].graph_root);
        stores = settings->additional_stores ? g_strjoinv(" ", settings->additional_stores) : g_strdup("");
        ck_assert_str_eq(stores, good[_i].stores);
}
END_TEST

static const struct {
        const char *own, *message;
} bad[] = {
        { "[storage\n", "/home/a/storage.conf" },
        { "[storage]\ngraphroot = \"$NOWHERE/x\"\n",
          "storage.conf:2: 'graphroot' of [storage]: '$NOWHERE/x' has a variable" },
        { "[storage]\ngraphroot = \"${HOME/x\"\n", "has a variable that is not set" },
        { "[storage]\ngraphroot = \"/x$\"\n", "has a variable that is not set" },
        { "[storage]\ngraphroot = \"$USER/x\"\n", "'a/x' is not an absolute path" },
        { "[storage.options]\nadditionalimagestores = [\"$HOME/x\"]\n", "variables are not expanded in '$HOME/x'" },
};

START_TEST(test_broken) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StoreSettings) users = store_settings_new();

        users->variables = g_strdupv((char **) variables);
        ck_assert_ptr_null(view_storage_conf(users, bad[_i].own, "/home/a/storage.conf", "/home/a", &error));
        ck_assert_msg(strstr(error->message, bad[_i].message), "%s", error->message);
}
END_TEST

TEST_MAIN("userns/view", {
        tcase_add_loop_test(tcase, test_storage_conf, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_broken, 0, G_N_ELEMENTS(bad));
})
