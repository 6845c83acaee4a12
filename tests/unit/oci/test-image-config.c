/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/image-config.h"
#include "tests/unit/oci/facts.h"

/* Of an image that Podman imported, shortened. */
#define OCI_CONFIG                                                                                       \
        "{\"created\":\"2026-01-01T00:00:00Z\",\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{" \
        "\"User\":\"bob\",\"ExposedPorts\":{\"80/tcp\":{}},\"Env\":[\"FOO=bar\",\"A=b=c\"],"             \
        "\"Entrypoint\":[\"/entry\",\"a b\"],\"Cmd\":[\"/bin/sh\",\"-c\",\"env\"],"                      \
        "\"Volumes\":{\"/z/\":{},\"/z\":{},\"/data/./x\":{}},\"WorkingDir\":\"/work\","                  \
        "\"Labels\":{\"z\":\"1\",\"a\":\"x=y\",\"empty\":\"\"},\"StopSignal\":\"SIGQUIT\"},"             \
        "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:1f\"]},\"history\":[{\"created_by\":\"import\"}]}"

/* As `docker build` leaves it: keys that OCI does not know, null where nothing was set. */
#define DOCKER_CONFIG                                                                                            \
        "{\"architecture\":\"amd64\",\"os\":\"linux\",\"docker_version\":\"20.10\",\"container\":\"abc\","       \
        "\"container_config\":{\"Hostname\":\"x\",\"Cmd\":[\"wrong\"],\"Env\":null},"                            \
        "\"config\":{\"Hostname\":\"\",\"Domainname\":\"\",\"User\":\"\",\"AttachStdin\":false,\"Tty\":false,"   \
        "\"Env\":[\"PATH=/bin\"],\"Cmd\":[\"nginx\"],\"Healthcheck\":{\"Test\":[\"CMD\",\"x\"],\"Interval\":5}," \
        "\"ArgsEscaped\":true,\"Image\":\"sha256:00\",\"Volumes\":null,\"WorkingDir\":\"\",\"Entrypoint\":null," \
        "\"OnBuild\":null,\"Labels\":null,\"StopSignal\":\"\"},"                                                 \
        "\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:1f\"]}}"

static ImageConfig *parse(const char *json) {
        g_autoptr(GError) error = NULL;
        ImageConfig *image = image_config_parse(json, &error);

        ck_assert_msg(image, "%s", error ? error->message : "");
        return image;
}

START_TEST(test_oci) {
        g_autoptr(ImageConfig) image = parse(OCI_CONFIG);

        ck_assert_str_eq(image->user, "bob");
        ck_assert_str_eq(image->working_dir, "/work");
        ck_assert_str_eq(image->stop_signal, "SIGQUIT");
        expect_list(image->entrypoint, "[/entry][a b]");
        expect_list(image->cmd, "[/bin/sh][-c][env]");
        expect_list(image->env, "[FOO=bar][A=b=c]");
        expect_list(image->volumes, "[/data/x][/z]");
        expect_list(image->labels, "[a=x=y][empty=][z=1]");
        ck_assert_str_eq(image_config_find_label(image, "a"), "x=y");
        ck_assert_str_eq(image_config_find_label(image, "empty"), "");
        ck_assert_ptr_null(image_config_find_label(image, "emp"));
        ck_assert_ptr_null(image_config_find_label(image, "b"));
}
END_TEST

START_TEST(test_docker) {
        g_autoptr(ImageConfig) image = parse(DOCKER_CONFIG);

        ck_assert_ptr_null(image->user);
        ck_assert_ptr_null(image->working_dir);
        ck_assert_ptr_null(image->stop_signal);
        expect_list(image->entrypoint, "-");
        expect_list(image->cmd, "[nginx]");
        expect_list(image->env, "[PATH=/bin]");
        expect_list(image->volumes, "-");
        expect_list(image->labels, "-");
        ck_assert_ptr_null(image_config_find_label(image, "a"));
}
END_TEST

#define ROOTFS "\"architecture\":\"amd64\",\"os\":\"linux\",\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[]}"

static const char *const nothing[] = {
        "{" ROOTFS "}",
        "{" ROOTFS ",\"config\":{}}",
        "{" ROOTFS ",\"config\":null}",
        "{" ROOTFS ",\"config\":{\"Env\":[],\"Cmd\":[],\"Entrypoint\":[],\"Volumes\":{},\"Labels\":{}}}",
};

START_TEST(test_nothing) {
        g_autoptr(ImageConfig) image = parse(nothing[_i]);
        g_autoptr(ImageConfig) empty = g_new0(ImageConfig, 1);

        ck_assert_mem_eq(image, empty, sizeof *image);
}
END_TEST

/* Labels are somebody's own words. */
START_TEST(test_names_that_differ_in_case) {
        g_autoptr(ImageConfig)
                image = parse("{" ROOTFS ",\"config\":{\"Labels\":{\"name\":\"1\",\"Name\":\"2\",\"user\":\"3\"},"
                              "\"Volumes\":{\"/a\":{},\"/A\":{}},\"ExposedPorts\":{\"1/tcp\":{},\"1/TCP\":{}}}}");

        expect_list(image->labels, "[Name=2][name=1][user=3]");
        expect_list(image->volumes, "[/A][/a]");
}
END_TEST

static const struct {
        const char *json, *message;
} bad[] = {
        { "", "cannot be read" },
        { "{", "cannot be read" },
        { "[]", "cannot be read" },
        { "\"config\"", "cannot be read" },
        { "{\"config\":{\"Env\":\"A=1\"}}", "cannot be read" },
        { "{" ROOTFS ",\"config\":{\"WorkingDir\":\"work\"}}", "WORKDIR: 'work' is not an absolute path" },
        { "{" ROOTFS ",\"config\":{\"Volumes\":{\"data\":{}}}}", "VOLUME: 'data' is not an absolute path" },
        { "{" ROOTFS ",\"config\":{\"Volumes\":{\"/a\\u001bb\":{}}}}",
          "VOLUME: \"/a\\033b\" has a control character" },
        { "{" ROOTFS ",\"config\":{\"WorkingDir\":\"/a\\nb\"}}", "WORKDIR: \"/a\\nb\" has a control character" },
        /* Go's programs take the last one, in any case of letters. */
        { "{" ROOTFS ",\"config\":{\"User\":\"0\"},\"config\":{\"User\":\"1000\"}}", "the key 'config' twice" },
        { "{" ROOTFS ",\"config\":{\"User\":\"0\",\"Us\\u0065r\":\"1000\"}}", "' twice (upper" },
        { "{" ROOTFS ",\"config\":{\"User\":\"0\",\"user\":\"1000\"}}",
          "the key 'user' is 'User' for some programs" },
        { "{" ROOTFS ",\"config\":{\"user\":\"1000\"}}", "the key 'user' is 'User' for some programs" },
        { "{" ROOTFS ",\"config\":{\"U\u017fer\":\"1000\"}}", "is 'User' for some programs" },
        { "{" ROOTFS ",\"config\":{\"U\\u017fer\":\"1000\"}}", "is 'User' for some programs" },
        { "{" ROOTFS ",\"Config\":{\"User\":\"1000\"}}", "the key 'Config' is 'config' for some programs" },
        { "{" ROOTFS ",\"config\":{\"User\\u0000\":\"1000\"}}", "has a NUL inside a string" },
        { "{" ROOTFS ",\"config\":{\"Hostname\":\"a\",\"hostname\":\"b\"}}", "the key 'hostname' twice" },
        { "{" ROOTFS ",\"config\":{\"Labels\":{\"a\":\"1\",\"a\":\"2\"}}}", "the key 'a' twice" },
        { "{" ROOTFS ",\"x\":[{\"\u212a\":1,\"a\":[{}],\"k\":1}]}", "the key 'k' twice" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        ck_assert_msg(!image_config_parse(bad[_i].json, &error), "%s", bad[_i].json);
        ck_assert_msg(strstr(error->message, bad[_i].message), "%s", error->message);
}
END_TEST

TEST_MAIN("image-config", {
        tcase_add_test(tcase, test_oci);
        tcase_add_test(tcase, test_docker);
        tcase_add_loop_test(tcase, test_nothing, 0, G_N_ELEMENTS(nothing));
        tcase_add_test(tcase, test_names_that_differ_in_case);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
