/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/cdi/cdi-file.h"
#include "libstart/oci/environment.h"
#include "tests/unit/oci/facts.h"

#define PATH "[PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin]"
#define TAIL "[HOME=/home/bob][HOSTNAME=hub]"

static const char *const caller[] = {
        "HOME=/host",     "FOO=host",       "A_1=1",
        "A_2=2",          "B=x=y",          "http_proxy=p",
        "NO_PROXY=n",     "HTTP_PROXYX=no", "NOTIFY_SOCKET=/run/systemd/notify",
        "LISTEN_PID=5",   "LISTEN_FDS=2",   "WATCHDOG_USEC=9",
        "WATCHDOG_PID=5", "EMPTY=",         NULL,
};

static char **build_with(const ReadWords *asked, char **image_env, const HostFacts *host, const char *const *files,
                         GError **error) {
        const ImageConfig image = { .env = image_env };
        const UserIdentity user = { .home = (char *) "/home/bob" };

        return build_environment(&asked->request, &image, &user, host, files, NULL, error);
}

static HostFacts caller_facts(void) {
        HostFacts host = facts();

        host.environment = caller;
        return host;
}

/* runc's table (TestPrepareEnv and its integration tests), given to us as the image's environment: the
 * rows that a C string can express. What we add in front is cut off. */
static const struct {
        const char *const *env;
        const char *expected, *error;
} runc[] = {
        { NULL, "[HOME=/home/bob]", NULL },
        { WORDS(NULL), "[HOME=/home/bob]", NULL },
        { WORDS("HOME=/whoo", "FOO=bar"), "[HOME=/whoo][FOO=bar]", NULL },
        { WORDS("A=a", "A=b", "A=c"), "[A=c][HOME=/home/bob]", NULL },
        { WORDS("TERM=vt100", "HOME=/home/one", "HOME=/home/two", "TERM=xterm", "HOME=/home/three", "FOO=bar"),
          "[TERM=xterm][HOME=/home/three][FOO=bar]", NULL },
        { WORDS("HOME=", "HOME=/foo"), "[HOME=/foo]", NULL },
        { WORDS("HOME="), "[HOME=/home/bob]", NULL },
        { WORDS("HOME=/foo", "HOME="), "[HOME=/home/bob]", NULL },
        { WORDS("A=1", "B=2", "A=3"), "[B=2][A=3][HOME=/home/bob]", NULL },
        { WORDS("FOO"), NULL, "'FOO' has no '='" },
        { WORDS("=x"), NULL, "no name before '='" },
        { WORDS("A", "A=1"), NULL, "'A' has no '='" },
        { WORDS("N=\n", "A==b=c", "\303\204=\303\266", "ONE=two", "ONE="),
          "[N=\n][A==b=c][\303\204=\303\266][ONE=][HOME=/home/bob]", NULL },
        { WORDS("DEBUG=true", "DEBUG=false", "ENV=test"), "[DEBUG=false][ENV=test][HOME=/home/bob]", NULL },
};

START_TEST(test_runc) {
        const HostFacts host = facts();
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(WORDS("image"));
        g_auto(GStrv) environment = build_with(&asked, (char **) runc[_i].env, &host, NULL, &error);

        if (runc[_i].error) {
                ck_assert_ptr_null(environment);
                expect_error(error, KT_ERROR_USAGE, runc[_i].error);
                return;
        }

        g_autofree char *expected = g_strconcat(PATH "[container=podman]", runc[_i].expected, "[HOSTNAME=hub]", NULL);
        expect_list(environment, expected);
}
END_TEST

static const struct {
        const char *const *words;
        const char *expected;
} options[] = {
        { WORDS("i"), PATH "[container=podman][http_proxy=p][NO_PROXY=n]" TAIL },
        { WORDS("--http-proxy=false", "i"), PATH "[container=podman]" TAIL },
        { WORDS("--rootfs", "--http-proxy=false", "/r"), PATH TAIL },
        { WORDS("--http-proxy=false", "--env=A=1", "--env=B=", "--env=A=2", "i"),
          PATH "[container=podman][B=][A=2]" TAIL },
        { WORDS("--http-proxy=false", "--env=B", "--env=NOPE", "--env=EMPTY", "i"),
          PATH "[container=podman][B=x=y][EMPTY=]" TAIL },
        { WORDS("--http-proxy=false", "--env=A_*", "--env=NOPE*", "i"),
          PATH "[container=podman][A_1=1][A_2=2]" TAIL },
        { WORDS("--http-proxy=false", "--env= \tX=1", "i"), PATH "[container=podman][X=1]" TAIL },
        { WORDS("--http-proxy=false", "--env=X Y=1", "i"), PATH "[container=podman][X Y=1]" TAIL },
        { WORDS("--http-proxy=false", "--env=container=me", "--env=PATH=/p", "i"), "[container=me][PATH=/p]" TAIL },
        { WORDS("--http-proxy=false", "--env=HOSTNAME=x", "--env=HOME=", "i"),
          PATH "[container=podman][HOSTNAME=x][HOME=/home/bob]" },
        { WORDS("--http-proxy=false", "--env=HOSTNAME=", "i"), PATH "[container=podman][HOSTNAME=][HOME=/home/bob]" },
        { WORDS("--http-proxy=false", "--hostname=cam", "i"),
          PATH "[container=podman][HOME=/home/bob][HOSTNAME=cam]" },
        { WORDS("--env-host", "i"),
          PATH "[container=podman][HOME=/host][FOO=host][A_1=1][A_2=2][B=x=y][http_proxy=p][NO_PROXY=n]"
               "[HTTP_PROXYX=no][EMPTY=][HOSTNAME=hub]" },
        { WORDS("--sdnotify=container", "--http-proxy=false", "i"), PATH "[container=podman]" TAIL }, /* no socket */
};

START_TEST(test_options) {
        const HostFacts host = caller_facts();
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(options[_i].words);
        g_auto(GStrv) environment = build_with(&asked, NULL, &host, NULL, &error);

        ck_assert_msg(environment, "%s", error ? error->message : "");
        expect_list(environment, options[_i].expected);
}
END_TEST

/* Each source overrides those before it. */
START_TEST(test_order) {
        const HostFacts host = caller_facts();
        g_auto(ReadWords)
                asked = read_words(WORDS("--env-host", "--env-file=/1", "--env-file=/2", "--env=E=option", "i"));
        g_auto(GStrv) environment = build_with(
                &asked, (char **) WORDS("PATH=image", "container=image", "FOO=image", "B=image", "E=image"), &host,
                WORDS("B=first\nC=first\nD=first\nE=first", "C=second\nE=second"), NULL);

        expect_list(environment,
                    "[PATH=image][container=image][HOME=/host][FOO=host][A_1=1][A_2=2][http_proxy=p][NO_PROXY=n]"
                    "[HTTP_PROXYX=no][EMPTY=][B=first][D=first][C=second][E=option][HOSTNAME=hub]");
}
END_TEST

/* What Podman 5.4.2 makes of the same file. */
START_TEST(test_file) {
        const HostFacts host = caller_facts();
        g_auto(ReadWords) asked = read_words(WORDS("--http-proxy=false", "--env-file=/f", "i"));
        g_auto(GStrv) environment = build_with(
                &asked, NULL, &host,
                WORDS("A=1\n# c\n  B2=2 # x\nFOO\n\nD=\"q\"\nE=a\r\n\tF=1\nA_*\nNOPE\n  #x\n\r\nG="), NULL);

        expect_list(environment, PATH "[container=podman][A=1][B2=2 # x][FOO=host][D=\"q\"][E=a][F=1][A_1=1][A_2=2]"
                                      "[G=]" TAIL);
}
END_TEST

START_TEST(test_bad_file) {
        const HostFacts host = facts();
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(WORDS("--env-file=/etc/cam.env", "i"));

        ck_assert_ptr_null(build_with(&asked, NULL, &host, WORDS("A=1\n\n =hunter2\n"), &error));
        expect_error(error, KT_ERROR_USAGE, "/etc/cam.env:3: a variable has no name");
        ck_assert_ptr_null(strstr(error->message, "hunter2"));
}
END_TEST

START_TEST(test_systemd) {
        HostFacts host = caller_facts();
        g_auto(ReadWords)
                asked = read_words(WORDS("--sdnotify=container", "--http-proxy=false", "--env=LISTEN_FDS=9", "i"));

        host.listen_fds = 2;
        host.listen_fd_names = "a:b";
        const ImageConfig image = { 0 };
        const UserIdentity user = { .home = (char *) "/home/bob" };
        g_auto(GStrv) environment = build_environment(&asked.request, &image, &user, &host, NULL, "/notify", NULL);
        expect_list(environment, PATH "[container=podman]" TAIL "[LISTEN_PID=1][LISTEN_FDS=2][LISTEN_FDNAMES=a:b]"
                                      "[NOTIFY_SOCKET=/run/notify/notify.sock][WATCHDOG_USEC=9]");
}
END_TEST

/* Compared with Podman 5.4.2, but for the last row, where it leaves HOME empty. */
static const struct {
        bool in_passwd;
        const char *user, *workdir, *image_user, *image_workdir;
        const char *home;
} homes[] = {
        { true, "5", "/tmp", NULL, NULL, "HOME=/home/bob" },   { false, "5", "/tmp", NULL, "/work", "HOME=/tmp" },
        { false, "0", "/tmp", NULL, NULL, "HOME=/tmp" },       { false, "5", NULL, NULL, "/work", "HOME=/work" },
        { false, NULL, NULL, "5", "/work", "HOME=/work" },     { false, "5", NULL, NULL, NULL, "HOME=/" },
        { false, NULL, "/tmp", NULL, NULL, "HOME=/home/bob" },
};

START_TEST(test_home) {
        const ImageConfig image = { .user = (char *) homes[_i].image_user,
                                    .working_dir = (char *) homes[_i].image_workdir };
        const UserIdentity user = { .in_passwd = homes[_i].in_passwd, .home = (char *) "/home/bob" };
        const HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(WORDS("i"));

        asked.request.user = homes[_i].user;
        asked.request.workdir = homes[_i].workdir;
        g_auto(GStrv) environment = build_environment(&asked.request, &image, &user, &host, NULL, NULL, NULL);
        ck_assert_msg(g_strv_contains((const char *const *) environment, homes[_i].home), "%s", homes[_i].home);
}
END_TEST

/* An empty field in passwd. */
START_TEST(test_no_home) {
        const ImageConfig image = { 0 };
        const UserIdentity user = { .in_passwd = true, .home = (char *) "" };
        const HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(WORDS("--env=HOME=/x", "--env=HOME=", "i"));
        g_auto(GStrv) environment = build_environment(&asked.request, &image, &user, &host, NULL, NULL, NULL);

        expect_list(environment, PATH "[container=podman][HOSTNAME=hub]");
}
END_TEST

/* A start-up with 5000 variables is what runc is measured by; here are ten times as many, each assigned
 * twice. A quadratic algorithm would compare 2.5 * 10^9 pairs of names, which takes many seconds. */
START_TEST(test_many) {
        const HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(WORDS("i"));
        g_autoptr(GTimer) timer = NULL;

        for (int i = 0; i < 100000; i++)
                g_ptr_array_add(asked.args->env, g_strdup_printf("KEY_%05d=%d", i % 50000, i));
        timer = g_timer_new();
        g_auto(GStrv) environment = build_with(&asked, NULL, &host, NULL, NULL);
        ck_assert_double_lt(g_timer_elapsed(timer, NULL), 2.0);
        ck_assert_uint_eq(g_strv_length(environment), 50000 + 4);
        ck_assert_str_eq(environment[2], "KEY_00000=50000");
        ck_assert_str_eq(environment[50001], "KEY_49999=99999");
}
END_TEST

/* Short lines: more of them than their bytes make one expect. */
START_TEST(test_many_in_file) {
        const HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(WORDS("--env-file=/f", "i"));
        g_autoptr(GString) content = g_string_new(NULL);

        for (int i = 0; i < 20000; i++)
                g_string_append_printf(content, "%sK%d=%d\n", i % 100 ? "" : "#\n", i % 10000, i);
        g_auto(GStrv) environment = build_with(&asked, NULL, &host, WORDS(content->str), NULL);
        ck_assert_uint_eq(g_strv_length(environment), 10000 + 4);
        ck_assert_str_eq(environment[2], "K0=10000");
        ck_assert_str_eq(environment[10001], "K9999=19999");
}
END_TEST

/* What a caller can have in its environment that is no variable. */
START_TEST(test_strange_caller) {
        HostFacts host = facts();
        g_auto(ReadWords) asked = read_words(WORDS("--env-host", "i"));

        host.environment = WORDS("X", "X=1", "HOME", "=y", "");
        g_auto(GStrv) environment = build_with(&asked, NULL, &host, NULL, NULL);
        expect_list(environment, PATH "[container=podman][X=1]" TAIL);
}
END_TEST

START_TEST(test_list) {
        g_auto(ReadWords) asked = read_words(WORDS("--env=A=1", "--env-list=/list", "image"));
        const ImageConfig image = { 0 };
        const UserIdentity user = { .home = (char *) "/" };
        const HostFacts host = facts();
        SpecInput input = {
                .request = &asked.request, .image = &image, .user = &user, .host = &host, .hostname = "hub"
        };
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GError) error = NULL;

        input.env_list = "B=2\0\0C=3";
        input.env_list_length = sizeof "B=2\0\0C=3";
        g_autofree char **environment = environment_build(&input, owned, &error);
        expect_list(environment, PATH "[container=podman][B=2][A=1][C=3][HOME=/][HOSTNAME=hub]");

        input.env_list_length = sizeof "B=2";
        ck_assert_ptr_null(environment_build(&input, owned, &error));
        expect_error(error, KT_ERROR_FAILED, "'/list': it does not fit the other words");
}
END_TEST

/* Podman sets them last. */
START_TEST(test_secrets) {
        g_auto(ReadWords) asked = read_words(WORDS("--env=A=1", "--env=B=2", "image"));
        const ImageConfig image = { 0 };
        const UserIdentity user = { .home = (char *) "/" };
        const HostFacts host = facts();
        SpecInput input = {
                .request = &asked.request, .image = &image, .user = &user, .host = &host, .hostname = "hub"
        };
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        const char *variables[] = { "A=secret", "HOME=/secret" };

        input.secret_variables = &(GPtrArray) { .pdata = (void **) variables, .len = 2 };
        g_autofree char **environment = environment_build(&input, owned, NULL);
        expect_list(environment, PATH "[container=podman][B=2][A=secret][HOME=/secret][HOSTNAME=hub]");
}
END_TEST

/* They win over everything, also what is set where it is unset. */
START_TEST(test_cdi) {
        g_auto(ReadWords) asked = read_words(WORDS("--env=A=1", "--env=B=2", "--sdnotify=container", "image"));
        const ImageConfig image = { 0 };
        const UserIdentity user = { .in_passwd = true, .home = (char *) "" };
        const HostFacts host = facts();
        const char *secret = "A=secret", *all[] = { "C=all", "B=all" }, *one[] = { "C=one", "A=one", "HOME=" },
                   *other[] = { "NOTIFY_SOCKET=other" };
        GPtrArray variables[] = { { (void **) all, G_N_ELEMENTS(all) },
                                  { (void **) one, G_N_ELEMENTS(one) },
                                  { (void **) other, G_N_ELEMENTS(other) } };
        CdiEdits edits[] = { { .env = &variables[0] }, { .env = &variables[1] }, { .env = &variables[2] } };
        CdiEdits *cdi[] = { &edits[0], &edits[1], &edits[2] };
        const SpecInput input = {
                .request = &asked.request,
                .image = &image,
                .user = &user,
                .host = &host,
                .hostname = "hub",
                .notify_socket = "/socket",
                .secret_variables = &(GPtrArray) { .pdata = (void **) &secret, .len = 1 },
                .cdi = &(GPtrArray) { .pdata = (void **) cdi, .len = G_N_ELEMENTS(cdi) },
        };
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autofree char **environment = environment_build(&input, owned, NULL);

        expect_list(environment,
                    PATH "[container=podman][HOSTNAME=hub][B=all][C=one][A=one][HOME=][NOTIFY_SOCKET=other]");
}
END_TEST

TEST_MAIN("environment", {
        tcase_add_loop_test(tcase, test_runc, 0, G_N_ELEMENTS(runc));
        tcase_add_loop_test(tcase, test_options, 0, G_N_ELEMENTS(options));
        tcase_add_test(tcase, test_order);
        tcase_add_test(tcase, test_file);
        tcase_add_test(tcase, test_bad_file);
        tcase_add_test(tcase, test_systemd);
        tcase_add_loop_test(tcase, test_home, 0, G_N_ELEMENTS(homes));
        tcase_add_test(tcase, test_no_home);
        tcase_add_test(tcase, test_list);
        tcase_add_test(tcase, test_many);
        tcase_add_test(tcase, test_many_in_file);
        tcase_add_test(tcase, test_strange_caller);
        tcase_add_test(tcase, test_secrets);
        tcase_add_test(tcase, test_cdi);
})
