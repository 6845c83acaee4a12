/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/store/artifact.h"
#include "tests/unit/test-main.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "aaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ENTRY(id, name) \
        "{\"digest\": \"sha256:" id "\", \"annotations\": {\"org.opencontainers.image.ref.name\": \"" name "\"}}"
#define INDEX                                                                                   \
        "{\"schemaVersion\": 2, \"manifests\": [" ENTRY(ID_A, "quay.io/x/a:latest") ", " ENTRY( \
                ID_B, "quay.io/x/b:1") ", {\"digest\": \"sha256:../../etc/shadow\"}, 7]}"

static void assert_error(const GError *error, int code, const char *message) {
        ck_assert_msg(g_error_matches(error, KT_ERROR, code), "%s", error ? error->message : "no error");
        ck_assert_msg(strstr(error->message, message), "%s", error->message);
}

static const struct {
        const char *name, *digest; /* NULL: an error */
        int code;
        const char *message;
} names[] = {
        { "quay.io/x/a:latest", "sha256:" ID_A },
        { "quay.io/x/a", "sha256:" ID_A },
        { "quay.io/x/b:1", "sha256:" ID_B },
        { "sha256:" ID_B, "sha256:" ID_B },
        { ID_B, "sha256:" ID_B },
        { "aaaaaaaaaaaab", "sha256:" ID_B },
        { "aaaaaaaaaaaa", NULL, KT_ERROR_FAILED, "several" },
        { "aaaaaaaaaaa", NULL, KT_ERROR_NOT_FOUND, "not there" }, /* too short to be taken for a digest */
        { "quay.io/x/b", NULL, KT_ERROR_NOT_FOUND, "not there" },
        { "../../etc/shadow", NULL, KT_ERROR_NOT_FOUND, "not there" },
        { "", NULL, KT_ERROR_NOT_FOUND, "not there" },
};

START_TEST(test_names) {
        g_autoptr(GError) error = NULL;
        g_autofree char *digest = artifact_index_find(INDEX, strlen(INDEX), names[_i].name, &error);

        ck_assert_pstr_eq(digest, names[_i].digest);
        if (!names[_i].digest)
                assert_error(error, names[_i].code, names[_i].message);
}
END_TEST

/* One name that two manifests have, as Podman never leaves it. */
START_TEST(test_two_of_a_name) {
        static const char text[] = "{\"manifests\": [" ENTRY(ID_A, "x") ", " ENTRY(ID_B, "x") "]}";
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(artifact_index_find(text, strlen(text), "x", &error));
        assert_error(error, KT_ERROR_FAILED, "several");
}
END_TEST

#define LAYER(id, size, more) "{\"digest\": \"sha256:" id "\", \"size\": " size more "}"
#define TITLED(title) ", \"annotations\": {\"org.opencontainers.image.title\": \"" title "\"}"
#define MANIFEST(layers) "{\"config\": {}, \"layers\": [" layers "]}"

static const struct {
        const char *text, *files; /* NULL: an error */
        const char *message;
} manifests[] = {
        { MANIFEST(LAYER(ID_A, "7", TITLED("a.bin"))), "/b/" ID_A " 7 a.bin\n" },
        { MANIFEST(LAYER(ID_A, "0", "") "," LAYER(ID_B, "1", TITLED("\303\244 b"))),
          "/b/" ID_A " 0 -\n/b/" ID_B " 1 \303\244 b\n" },
        { MANIFEST(""), NULL, "no files" },
        { "{\"manifests\": [" LAYER(ID_A, "7", "") "]}", NULL, "list of manifests" },
        { "{\"layers\": {}}", NULL, "no files" },
        { "[]", NULL, "no files" },
        { "", NULL, "JSON" },
        { MANIFEST(LAYER(ID_A, "7", TITLED("../x"))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "7", TITLED("x/y"))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "7", TITLED(".."))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "7", TITLED("."))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "7", TITLED(""))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "7", TITLED("a\\nb"))), NULL, "no name of a file" },
        { MANIFEST(LAYER(ID_A, "-1", "")), NULL, "size" },
        { MANIFEST(LAYER(ID_A, "\"7\"", "")), NULL, "size" },
        { MANIFEST(LAYER("../../../../etc/shadow", "7", "")), NULL, "not a SHA-256 digest" },
        { MANIFEST("7"), NULL, "not a SHA-256 digest" },
        { "{\"layers\": [], \"layers\": [" LAYER(ID_A, "7", "") "]}", NULL, "twice" },
};

START_TEST(test_manifests) {
        const char *text = manifests[_i].text;
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) artifact = artifact_manifest_parse(text, strlen(text), "/b", &error);
        g_autoptr(GString) files = g_string_new(NULL);

        for (guint i = 0; artifact && i < artifact->len; i++) {
                const ArtifactBlob *blob = artifact->pdata[i];

                g_string_append_printf(files, "%s %d %s\n", blob->path, (int) blob->size, blob->title ?: "-");
        }
        if (manifests[_i].files)
                ck_assert_str_eq(files->str, manifests[_i].files);
        else
                assert_error(error, KT_ERROR_FAILED, manifests[_i].message);
}
END_TEST

TEST_MAIN("artifact", {
        tcase_add_loop_test(tcase, test_names, 0, G_N_ELEMENTS(names));
        tcase_add_test(tcase, test_two_of_a_name);
        tcase_add_loop_test(tcase, test_manifests, 0, G_N_ELEMENTS(manifests));
})
