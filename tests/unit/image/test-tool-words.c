/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/image/tool-words.h"
#include "tests/unit/test-main.h"

static char *join(GPtrArray *words) {
        char *text;

        g_ptr_array_add(words, NULL);
        text = g_strjoinv(" ", (char **) words->pdata);
        g_ptr_array_unref(words);
        return text;
}

/* Whatever a file says is the value of an option, or behind what makes it a name. */
START_TEST(words) {
        char *list[] = { (char *) "--one", NULL };
        PullRequest plain = { .reference = (char *) "r.example/x:1" };
        PullRequest all = { .reference = (char *) "r.example/x:1",
                            .tag = (char *) "localhost/-x",
                            .arch = (char *) "--arch",
                            .os = (char *) "a b",
                            .variant = (char *) "v8",
                            .authfile = (char *) "-f",
                            .cert_dir = (char *) "/c",
                            .decryption_key = (char *) "k",
                            .tls_verify = (char *) "false",
                            .podman_args = list,
                            .global_args = list,
                            .all_tags = TRUE };
        PullRequest archive = { .reference = (char *) "oci-archive:/x", .tag = (char *) "localhost/x" };
        const struct {
                GPtrArray *made;
                const char *expected;
        } cases[] = {
                { pull_words_skopeo(&plain, "r.example/x:1"),
                  "skopeo copy docker://r.example/x:1 containers-storage:r.example/x:1" },
                { pull_words_skopeo(&all, "r.example/x:1"),
                  "skopeo --override-arch=--arch --override-os=a b --override-variant=v8 copy --src-authfile=-f "
                  "--src-cert-dir=/c --src-tls-verify=false --decryption-key=k docker://r.example/x:1 "
                  "containers-storage:localhost/-x" },
                { pull_words_skopeo(&archive, "oci-archive:/x"),
                  "skopeo copy oci-archive:/x containers-storage:localhost/x" },
                { pull_words_podman(&plain, "r.example/x:1"), "podman pull -- r.example/x:1" },
                { pull_words_podman(&all, "r.example/x:1"),
                  "podman --one pull --arch=--arch --os=a b --variant=v8 --authfile=-f --cert-dir=/c "
                  "--tls-verify=false --decryption-key=k --all-tags --one -- r.example/x:1" },
                { inspect_words(&plain, "r.example/x:1"), "skopeo inspect --raw docker://r.example/x:1" },
                { inspect_words(&all, "r.example/x:1"),
                  "skopeo --override-arch=--arch --override-os=a b --override-variant=v8 inspect --raw --authfile=-f "
                  "--cert-dir=/c --tls-verify=false docker://r.example/x:1" },
                { build_words("buildah", NULL, true, list), "buildah build --one" },
                { build_words("podman", list, false, list), "podman --one build --no-cache --one" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *made = join(cases[i].made);

                ck_assert_str_eq(made, cases[i].expected);
        }
        ck_assert(!pull_needs_podman(&plain) && pull_needs_podman(&all) && !pull_needs_podman(&archive));
        archive.tag = NULL;
        ck_assert(pull_needs_podman(&archive));
}
END_TEST

static const struct {
        const char *text, *registries, *expected, *problem;
} names[] = {
        { "r.example/x", "", "r.example/x:latest", NULL },
        { "docker://r.example/x:1", "a.example", "r.example/x:1", NULL },
        { "nginx", "docker.io", "docker.io/library/nginx:latest", NULL },
        { "known:2", "", "q.example/known:2", NULL },
        { "nginx", "", NULL, "neither an alias nor" },
        { "nginx", "a.example b.example", NULL, "several unqualified-search-registries" },
        { "sha256:0123456789012345678901234567890123456789012345678901234567890123", "", NULL, "is an id" },
        { "--creds=x", "a.example", NULL, "no image reference" },
        { "docker-daemon:x", "a.example", NULL, "is not in the image store" },
};

START_TEST(name) {
        g_auto(GStrv) registries = g_strsplit(names[_i].registries, " ", -1);
        g_autoptr(GHashTable) aliases = g_hash_table_new(g_str_hash, g_str_equal);
        ShortNames known = { aliases, registries };
        g_autoptr(GError) error = NULL;

        g_hash_table_insert(aliases, (void *) "known", (void *) "q.example/known");
        g_autofree char *found = pull_find_name(names[_i].text, &known, &error);
        ck_assert_pstr_eq(found, names[_i].expected);
        ck_assert(!names[_i].problem || strstr(error->message, names[_i].problem));
}
END_TEST

TEST_MAIN("image/tool-words", tcase_add_test(tcase, words); tcase_add_loop_test(tcase, name, 0, G_N_ELEMENTS(names)))
