/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>

#include "libstart/base/fd.h"
#include "tests/unit/oci/build-spec.h"

static const char *golden_path;

START_TEST(test_process) {
        g_auto(SpecCase) c = spec_case();
        const gid_t gids[] = { 1000, 44 };

        c.image.working_dir = (char *) "/work";
        c.user.uid = 1000;
        c.user.gid = 1001;
        g_array_append_vals(c.user.additional_gids, gids, 2);
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("i", "run", "me"));
        const runtime_spec_schema_config_schema_process *process = spec->process;

        expect_list(process->args, "[run][me]");
        ck_assert_uint_eq(process->args_len, 2);
        ck_assert(!process->env);
        ck_assert_str_eq(process->cwd, "/work");
        ck_assert_uint_eq(process->user->uid, 1000);
        ck_assert_uint_eq(process->user->gid, 1001);
        ck_assert_uint_eq(process->user->umask, 0022);
        ck_assert(process->user->uid_present && process->user->gid_present && process->user->umask_present);
        ck_assert_uint_eq(process->user->additional_gids_len, 2);
        ck_assert_mem_eq(process->user->additional_gids, gids, sizeof gids);
        ck_assert(!process->terminal && !process->oom_score_adj_present && !process->no_new_privileges);
}
END_TEST

START_TEST(test_workdir) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) unset = expect_spec(&c, WORDS("i"));

        ck_assert_str_eq(unset->process->cwd, "/");
        c.image.working_dir = (char *) "/work";
        g_autoptr(Spec) given = expect_spec(&c, WORDS("--workdir=/mine", "i"));
        ck_assert_str_eq(given->process->cwd, "/mine");
}
END_TEST

static const struct {
        const char *const *words;
        bool expected;
} privileges[] = {
        { WORDS("i"), false },
        { WORDS("--security-opt=no-new-privileges", "i"), true },
        { WORDS("--security-opt=no-new-privileges=false", "i"), false },
        { WORDS("--security-opt=no-new-privileges", "--security-opt=seccomp=unconfined", "i"), true },
        { WORDS("--security-opt=no-new-privileges=true", "--security-opt=no-new-privileges=false", "i"), false },
};

START_TEST(test_no_new_privileges) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, privileges[_i].words);

        ck_assert_int_eq(spec->process->no_new_privileges, privileges[_i].expected);
        ck_assert_int_eq(spec->process->no_new_privileges_present, privileges[_i].expected);
}
END_TEST

START_TEST(test_root) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) writable = expect_spec(&c, WORDS("--hostname=cam", "i"));
        g_autoptr(Spec) read_only = expect_spec(&c, WORDS("--read-only", "--network=none", "--name=cam", "i"));

        ck_assert_str_eq(writable->root->path, "/run/keyturn/camera/root");
        ck_assert(!writable->root->readonly);
        ck_assert_str_eq(writable->hostname, "cam");
        ck_assert(read_only->root->readonly && read_only->root->readonly_present);
        ck_assert_uint_eq(strlen(read_only->hostname), 12);
}
END_TEST

static char *describe_annotations(const Spec *spec) {
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < spec->annotations->len; i++)
                g_string_append_printf(text, "[%s=%s]", spec->annotations->keys[i], spec->annotations->values[i]);
        return g_string_free(text, FALSE);
}

/* The image's labels are no annotations: they could tell libcrun things that nobody has read. */
START_TEST(test_annotations) {
        g_auto(SpecCase) c = spec_case();

        c.image.labels = (char **) WORDS("image=1", "run.oci.handler=wasm");
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("--label=a=1", "--label=b", "--label=run.oci.handler=wasm",
                                                     "--annotation=a=2", "--annotation=c=d=e", "i"));
        g_autofree char *text = describe_annotations(spec);
        ck_assert_str_eq(text, "[org.opencontainers.image.stopSignal=15][a=2][b=][c=d=e]");
}
END_TEST

static const struct {
        const char *option, *image, *expected;
} signals[] = {
        { NULL, NULL, "[org.opencontainers.image.stopSignal=15]" },
        { NULL, "SIGQUIT", "[org.opencontainers.image.stopSignal=3]" },
        { "9", "SIGQUIT", "[org.opencontainers.image.stopSignal=9]" },
        { NULL, "SIGNONE", NULL },
};

START_TEST(test_stop_signal) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;
        g_autofree char *option = g_strconcat("--stop-signal=", signals[_i].option, NULL);

        c.image.stop_signal = (char *) signals[_i].image;
        g_autoptr(Spec) spec = build_spec(&c, signals[_i].option ? WORDS(option, "i") : WORDS("i"), &error);
        if (!signals[_i].expected) {
                expect_error(error, KT_ERROR_USAGE, "The image's STOPSIGNAL: there is no signal 'SIGNONE'");
                return;
        }

        g_autofree char *text = describe_annotations(spec);
        ck_assert_str_eq(text, signals[_i].expected);
}
END_TEST

/* The default container, whole, as JSON: default-container.json is what Podman 5.4.2 writes for `podman
 * create --network host IMAGE sleep 100` on cgroup v2, but for what the man page lists as different. */
START_TEST(test_golden) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = read_words(WORDS("--name=camera", "--network=host", "i", "sleep", "100"));
        g_auto(GStrv) environment = build_environment(&asked.request, &c.image, &c.user, &c.host, NULL, NULL, NULL);

        g_autoptr(Spec) spec = build_requested(&c, &asked.request, &error);
        g_autofree char *json = spec_to_json(spec, environment, &error), *golden = NULL;

        ck_assert_msg(json, "%s", error ? error->message : "");
        ck_assert_msg(g_file_get_contents(golden_path, &golden, NULL, &error), "%s", error ? error->message : "");
        ck_assert_str_eq(json, golden);
}
END_TEST

/* An environment may hold bytes that are no UTF-8. */
START_TEST(test_any_bytes) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("i"));
        g_autofree char *json = spec_to_json(spec, (char **) WORDS("A=\377\n\"\\"), NULL);

        ck_assert_ptr_nonnull(json);
        ck_assert_ptr_nonnull(strstr(json, "\"A=\377\\n\\\"\\\\\""));
}
END_TEST

/* Larger than any buffer on the way. */
static char **make_large_environment(void) {
        GPtrArray *list = g_ptr_array_new();

        for (int i = 0; i < 3000; i++)
                g_ptr_array_add(list, g_strdup_printf("NAME_%d=\\ \"%0*d\"\n", i, i % 50, i));
        g_ptr_array_add(list, NULL);
        return (char **) g_ptr_array_free(list, FALSE);
}

START_TEST(test_write) {
        g_auto(SpecCase) c = spec_case();
        g_auto(GStrv) environment = make_large_environment();
        g_autoptr(GError) error = NULL;
        g_autofree char *path = NULL;
        _cleanup_close_ int fd = g_file_open_tmp(NULL, &path, NULL);
        parser_error message = NULL;

        g_autoptr(Spec) spec = expect_spec(&c, WORDS("i"));
        ck_assert(spec_write_json(spec, environment, fd, &error));
        g_autoptr(Spec) read = runtime_spec_schema_config_schema_parse_file(path, NULL, &message);
        unlink(path);
        ck_assert_msg(read, "%s", message);
        g_autofree char *expected = spec_to_json(spec, environment, NULL),
                        *got = spec_to_json(read, read->process->env, NULL);
        ck_assert_str_eq(got, expected);
}
END_TEST

START_TEST(test_write_error) {
        g_auto(SpecCase) c = spec_case();
        g_autoptr(Spec) spec = expect_spec(&c, WORDS("i"));
        g_autoptr(GError) error = NULL;
        _cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

        ck_assert(!spec_write_json(spec, (char **) WORDS("A=1"), fd, &error));
        expect_error(error, KT_ERROR_FAILED, "No space left");
}
END_TEST

static void add_tests(TCase *tcase) {
        tcase_add_test(tcase, test_process);
        tcase_add_test(tcase, test_workdir);
        tcase_add_loop_test(tcase, test_no_new_privileges, 0, G_N_ELEMENTS(privileges));
        tcase_add_test(tcase, test_root);
        tcase_add_test(tcase, test_annotations);
        tcase_add_loop_test(tcase, test_stop_signal, 0, G_N_ELEMENTS(signals));
        tcase_add_test(tcase, test_golden);
        tcase_add_test(tcase, test_any_bytes);
        tcase_add_test(tcase, test_write);
        tcase_add_test(tcase, test_write_error);
}

TEST_MAIN("spec", {
        golden_path = getenv("DEFAULT_CONTAINER");
        add_tests(tcase);
})
