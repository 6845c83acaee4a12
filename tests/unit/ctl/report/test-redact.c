/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/report/redact.h"
#include "tests/unit/test-main.h"

static const struct {
        const char *text, *shown;
} units[] = {
        { "[Container]\nImage=localhost/a\n\nNetwork = host\n", "[Container]\nImage=localhost/a\nNetwork=host\n" },
        { "Environment=PASSWORD=hunter2", "Environment=…\n" },
        { "Environment=A=b \\\n  # hunter2\n  ; hunter2\n\n  PASSWORD=hunter2\nUser=1", "Environment=…\nUser=1\n" },
        { "# hunter2\n;hunter2\nhunter2", "…\n" },
        { "Enviroment=hunter2\nhunter2=x", "…=…\n…=…\n" },
        { "Secret=hunter2\nLabel=a=hunter2\nCreds=me:hunter2\nSetCredential=a:hunter2\nReloadCmd=a hunter2",
          "Secret=…\nLabel=…\nCreds=…\nSetCredential=…\nReloadCmd=…\n" },
        { "PodmanArgs=--env PASSWORD=hunter2 --label=a=hunter2 \"--env-file=hunter2\" --hunter2 -ehunter2",
          "PodmanArgs=… --env … --label … --env-file …\n" },
        { "ExecStart=/usr/lib/keyturn/libstart run --name a --env \"A=hunter2 hunter2\" image sh -c 'hunter2' "
          "----hunter2",
          "ExecStart=… --name … --env …\n" },
        { "Exec=dGVzdA== hunter2=\nExecStartPre=hunter2", "Exec=…\nExecStartPre=…\n" },
        { "Image=docker://me:hunter2@host/a", "Image=docker://…@host/a\n" },
        { "User=\\\nhunter2=x", "User=…\n" },
        { "User=a \\ \nEnvironment=hunter2\nUser=1",
          "User=…\nUser=1\n" }, /* where systemd sees two lines, or Podman */
        { "User=a \\\n\nEnvironment=hunter2", "User=…\n" },
        { "Environment=a \\\n\nUser=hunter2", "Environment=…\n" },
        { "User=a\\", "User=a\n" },
        { "", "" },
};

START_TEST(test_units) {
        g_autofree char *shown = redact_unit(units[_i].text);

        ck_assert_str_eq(shown, units[_i].shown);
}
END_TEST

static const struct {
        const char *text, *shown;
} messages[] = {
        { "keyturn-generator: error: /a/b.container:3: 'Image=': is no image\n",
          "keyturn-generator: error: /a/b.container:3: 'Image=': is no image\n" },
        { "keyturn-generator: error: /a/b.container:13: 'Secret=': hunter2",
          "keyturn-generator: error: /a/b.container:13: …\n" },
        { "keyturn-generator: error: /a/b.container:3: 'hunter2=': unknown key",
          "keyturn-generator: error: /a/b.container:3: …\n" },
        { "x: /a: line 3: 'hunter2' is neither\nx: 'hunter2'", "x: …\nx: …\n" },
        { "x: /a:3: 'hunter2': 'Image=': y", "x: /a:3: …\n" },
        { "", "" },
};

START_TEST(test_messages) {
        g_autofree char *shown = redact_messages(messages[_i].text);

        ck_assert_str_eq(shown, messages[_i].shown);
}
END_TEST

TEST_MAIN("ctl/report/redact", {
        tcase_add_loop_test(tcase, test_units, 0, G_N_ELEMENTS(units));
        tcase_add_loop_test(tcase, test_messages, 0, G_N_ELEMENTS(messages));
})
