/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/store/reference.h"
#include "tests/unit/base/parse-tests.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The names that are looked for, in this order, or an id, or both. */
static const GoodValue good[] = {
        { "quay.io/a/b:1", "quay.io/a/b:1" },
        { "quay.io/a/b", "quay.io/a/b:latest" },
        { "quay.io/a/b:1@sha256:" ID, "quay.io/a/b@sha256:" ID },
        { "quay.io/a/b@sha256:" ID, "quay.io/a/b@sha256:" ID },
        { "localhost/b", "localhost/b:latest" },
        { "localhost:5000/b:x", "localhost:5000/b:x" },
        { "registry:5000/b", "registry:5000/b:latest" },
        { "[::1]:5000/b", "[::1]:5000/b:latest" },
        { "docker.io/nginx", "docker.io/library/nginx:latest" },
        { "index.docker.io/nginx:1", "docker.io/library/nginx:1" },
        { "docker.io/a/b:1", "docker.io/a/b:1" },
        { "nginx", "alias.example/n:latest localhost/nginx:latest first.example/nginx:latest "
                   "docker.io/library/nginx:latest docker.io/library/nginx:latest" },
        { "a/b:v2", "alias.example/n:v2 localhost/a/b:v2 first.example/a/b:v2 docker.io/a/b:v2 docker.io/a/b:v2" },
        { "a__b-c--d.e", "alias.example/n:latest localhost/a__b-c--d.e:latest first.example/a__b-c--d.e:latest "
                         "docker.io/library/a__b-c--d.e:latest docker.io/library/a__b-c--d.e:latest" },
        { ID, "id " ID },
        { "sha256:" ID, "id " ID },
        { "0123456789ab", "alias.example/n:latest localhost/0123456789ab:latest first.example/0123456789ab:latest "
                          "docker.io/library/0123456789ab:latest docker.io/library/0123456789ab:latest "
                          "id 0123456789ab" },
        /* one digit too few to be an id */
        { "localhost/0123456789a", "localhost/0123456789a:latest" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "no image reference" },
        { "Nginx", KT_ERROR_USAGE, "lower-case" },
        { "quay.io/A/b", KT_ERROR_USAGE, "lower-case" },
        { "quay.io//b", KT_ERROR_USAGE, "no image reference" },
        { "quay.io/", KT_ERROR_USAGE, "no image reference" },
        { "/nginx", KT_ERROR_USAGE, "no image reference" },
        { "../../etc", KT_ERROR_USAGE, "no image reference" },
        { "quay.io/../b", KT_ERROR_USAGE, "no image reference" },
        { "a..b", KT_ERROR_USAGE, "no image reference" },
        { "a___b", KT_ERROR_USAGE, "no image reference" },
        { "-a", KT_ERROR_USAGE, "no image reference" },
        { "a-", KT_ERROR_USAGE, "no image reference" },
        { "a b", KT_ERROR_USAGE, "no image reference" },
        { "a\nb", KT_ERROR_USAGE, "no image reference" },
        { "quay.io:/b", KT_ERROR_USAGE, "no image reference" },
        { "quay.io:x/b", KT_ERROR_USAGE, "no image reference" },
        { "nginx:", KT_ERROR_USAGE, "bad tag ''" },
        { "nginx:.a", KT_ERROR_USAGE, "bad tag '.a'" },
        { "nginx:a b", KT_ERROR_USAGE, "bad tag 'a b'" },
        { "nginx@sha256:12", KT_ERROR_USAGE, "64 lower-case hexadecimal digits" },
        { "nginx@sha512:" ID, KT_ERROR_USAGE, "64 lower-case hexadecimal digits" },
        { "nginx@", KT_ERROR_USAGE, "64 lower-case hexadecimal digits" },
        { "nginx@sha256:" ID "@sha256:" ID, KT_ERROR_USAGE, "64 lower-case hexadecimal digits" },
        { "docker://nginx", KT_ERROR_UNSUPPORTED, "podman pull docker://nginx" },
        { "oci-archive:/x.tar", KT_ERROR_UNSUPPORTED, "not in the image store" },
        { "oci:/x", KT_ERROR_UNSUPPORTED, "not in the image store" },
};

static char *parse(const char *value, GError **error) {
        static const char *const registries[] = { "first.example", "docker.io", NULL };
        g_autoptr(Reference) reference = reference_parse(value, error);
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        if (!reference)
                return NULL;
        ck_assert_msg(!reference->digest || !reference->tag, "both a digest and a tag");
        if (reference->repository) {
                g_auto(GStrv) all = reference_repositories(reference, "alias.example/n", (char *const *) registries);

                for (char **repository = all; *repository; repository++)
                        g_ptr_array_add(words, reference_name(reference, *repository));
        }
        if (reference->id)
                g_ptr_array_add(words, g_strconcat("id ", reference->id, NULL));
        g_ptr_array_add(words, NULL);
        return g_strjoinv(" ", (char **) words->pdata);
}

PARSE_TESTS(parse)

START_TEST(test_limits) {
        g_autofree char *longest = g_strnfill(255, 'a');
        g_autofree char *too_long = g_strnfill(256, 'a');
        /* with "library/" in it */
        g_autofree char *docker_longest = g_strconcat("docker.io/", longest + 18, NULL);
        g_autofree char *docker_too_long = g_strconcat("docker.io/", longest + 17, NULL);
        g_autofree char *tag = g_strnfill(128, 't');
        g_autofree char *tagged = g_strconcat("a:", tag, NULL);
        g_autofree char *tagged_too_long = g_strconcat("a:", tag, "t", NULL);
        const char *const texts[] = { longest, too_long, tagged, tagged_too_long, docker_longest, docker_too_long };
        const bool expected[] = { true, false, true, false, true, false };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autoptr(Reference) reference = reference_parse(texts[i], NULL);
                ck_assert_int_eq(reference != NULL, expected[i]);
        }
}
END_TEST

TEST_MAIN("reference", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_test(tcase, test_limits);
})
