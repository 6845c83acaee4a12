/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/store/image-list.h"
#include "libstart/store/manifest.h"
#include "tests/unit/test-main.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define DIGEST_A "sha256:" ID_A
#define DIGEST_B "sha256:" ID_B

#define INSTANCE(digest, platform) "{\"digest\": \"" digest "\", \"platform\": {" platform "}}"
#define LIST(instances) "{\"manifests\": [" instances "]}"
#define ARM64 "\"os\": \"linux\", \"architecture\": \"arm64\""
#define WINDOWS "\"os\": \"windows\", \"architecture\": \"amd64\""
#define AMD64 "\"os\": \"linux\", \"architecture\": \"amd64\""
#define AMD64_V2 AMD64 ", \"variant\": \"v2\""
#define AMD64_V3 AMD64 ", \"variant\": \"v3\""

static const struct {
        const char *text;
        const char *digest; /* NULL: an error */
        bool is_list;
        int code;
        const char *message;
} manifests[] = {
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}, \"layers\": []}", DIGEST_A, false },
        /* a key is found whatever stands around it, and only where it belongs */
        { "{\"layers\": [{\"digest\": \"" DIGEST_B "\"}], \"config\": {\"x\": {\"digest\": \"" DIGEST_B
          "\"}, \"digest\": \"" DIGEST_A "\"}, \"subject\": {\"config\": {\"digest\": \"" DIGEST_B "\"}}}",
          DIGEST_A, false },
        { LIST(INSTANCE(DIGEST_B, ARM64) "," INSTANCE(DIGEST_A, AMD64)), DIGEST_A, true },
        { LIST(INSTANCE(DIGEST_B, AMD64_V3) "," INSTANCE(DIGEST_A, AMD64)), DIGEST_A, true },
        { LIST(INSTANCE(DIGEST_A, AMD64_V2) "," INSTANCE(DIGEST_B, AMD64_V3)), DIGEST_A, true },
        { LIST(INSTANCE(DIGEST_B, WINDOWS) "," INSTANCE(DIGEST_A, AMD64)), DIGEST_A, true },
        { LIST(INSTANCE(DIGEST_B, ARM64)), NULL, true, KT_ERROR_NOT_FOUND,
          "nothing for linux/amd64, only for: linux/arm64" },
        { LIST("{\"digest\": \"" DIGEST_A "\"}"), NULL, true, KT_ERROR_NOT_FOUND, "only for: ?/?" },
        { LIST("{\"platform\": {" AMD64 "}}"), NULL, true, KT_ERROR_NOT_FOUND, "only for: linux/amd64" },
        { "{\"schemaVersion\": 1, \"fsLayers\": [{\"blobSum\": \"x\"}]}", NULL, false, KT_ERROR_UNSUPPORTED,
          "schema 1" },
        { "{}", NULL, false, KT_ERROR_FAILED, "neither a manifest" },
        { "[]", NULL, false, KT_ERROR_FAILED, "neither a manifest" },
        { "null", NULL, false, KT_ERROR_FAILED, "neither a manifest" },
        { "{\"config\": {\"digest\": \"sha256:../../x\"}}", NULL, false, KT_ERROR_FAILED, "not a SHA-256 digest" },
        { "{\"config\": {\"digest\": \"sha512:" ID_A ID_B "\"}}", NULL, false, KT_ERROR_FAILED,
          "not a SHA-256 digest" },
        { "{\"config\": {\"digest\": \"a\\u0000b\"}}", NULL, false, KT_ERROR_FAILED, "NUL" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}", NULL, false, KT_ERROR_FAILED, "no valid JSON" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}} x", NULL, false, KT_ERROR_FAILED, "no valid JSON" },
        { "", NULL, false, KT_ERROR_FAILED, "no valid JSON" },
        /* what has two meanings */
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}, \"config\": {\"digest\": \"" DIGEST_B "\"}}", NULL, false,
          KT_ERROR_FAILED, "the key 'config' twice" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\", \"dig\\u0065st\": \"" DIGEST_B "\"}}", NULL, false,
          KT_ERROR_FAILED, "the key 'digest' twice" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}, \"Config\": {\"digest\": \"" DIGEST_B "\"}}", NULL, false,
          KT_ERROR_FAILED, "the key 'Config' is 'config' for some" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}, \"layers\": [], \"LAYERS\": []}", NULL, false,
          KT_ERROR_FAILED, "the key 'LAYERS' twice" },
        { "{\"config\": {\"digest\": \"" DIGEST_A "\"}, \"annotations\": {\"a\": \"\", \"A\": \"\"}}", DIGEST_A,
          false },
};

START_TEST(test_manifest) {
        g_autoptr(GError) error = NULL;
        bool is_list = false;
        const char *text = manifests[_i].text;
        g_autofree char *digest = manifest_parse(text, strlen(text), "amd64", &is_list, &error);

        ck_assert_pstr_eq(digest, manifests[_i].digest);
        if (digest)
                ck_assert_int_eq(is_list, manifests[_i].is_list);
        else {
                ck_assert_int_eq(error->code, manifests[_i].code);
                ck_assert_msg(strstr(error->message, manifests[_i].message), "%s", error->message);
        }
}
END_TEST

/* A document of hostile depth must not overflow the stack, whatever the parser does. */
START_TEST(test_depth) {
        static const struct {
                char open;
                size_t depth;
        } cases[] = { { '[', 65 }, { '[', 1000000 } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = g_strnfill(cases[i].depth, cases[i].open);
                g_autoptr(GError) error = NULL;
                bool is_list;

                ck_assert_ptr_null(manifest_parse(text, cases[i].depth, "amd64", &is_list, &error));
                ck_assert_str_eq(error->message, "it is nested too deeply");
        }
}
END_TEST

static const struct {
        const char *text;
        const char *diff_ids; /* joined with " "; NULL: an error */
        int code;
        const char *message;
} configs[] = {
        { "{\"rootfs\": {\"type\": \"layers\", \"diff_ids\": [\"" DIGEST_A "\", \"" DIGEST_B "\"]}}",
          DIGEST_A " " DIGEST_B },
        { "{\"config\": {\"Labels\": {\"rootfs\": \"diff_ids\"}}, \"rootfs\": {\"diff_ids\": [\"" DIGEST_A "\"]}}",
          DIGEST_A },
        /* a key is no path */
        { "{\"rootfs.diff_ids\": [\"" DIGEST_B "\"], \"rootfs\": {\"diff_ids\": [\"" DIGEST_A
          "\"], \"diff_ids[]\": \"" DIGEST_B "\"}}",
          DIGEST_A },
        { "{\"rootfs\": {\"diff_ids\\u0000\": [\"" DIGEST_B "\"]}}", NULL, KT_ERROR_FAILED, "NUL" },
        { "{\"rootfs\": {\"type\": \"layers\", \"diff_ids\": []}}", NULL, KT_ERROR_UNSUPPORTED, "no layers" },
        { "{}", NULL, KT_ERROR_UNSUPPORTED, "no layers" },
        { "{\"rootfs\": {\"type\": \"tar\"}}", NULL, KT_ERROR_UNSUPPORTED, "'tar'" },
        { "{\"rootfs\": {\"diff_ids\": [\"sha256:A\"]}}", NULL, KT_ERROR_FAILED, "'sha256:A'" },
        { "{\"rootfs\": ", NULL, KT_ERROR_FAILED, "no valid JSON" },
        { "{\"a\": \"\\ud800\\\\u\"}", NULL, KT_ERROR_FAILED, "surrogate pair (at byte 7)" },
};

START_TEST(test_config) {
        g_autoptr(GError) error = NULL;
        const char *text = configs[_i].text;
        TextRange history;
        g_auto(GStrv) diff_ids = config_parse_diff_ids(text, strlen(text), &history, &error);

        if (configs[_i].diff_ids) {
                ck_assert_msg(diff_ids, "%s", error ? error->message : "no error set");
                g_autofree char *joined = g_strjoinv(" ", diff_ids);
                ck_assert_str_eq(joined, configs[_i].diff_ids);
        } else {
                ck_assert_ptr_null(diff_ids);
                ck_assert_int_eq(error->code, configs[_i].code);
                ck_assert_msg(strstr(error->message, configs[_i].message), "%s", error->message);
        }
}
END_TEST

#define ROOTFS "\"rootfs\":{\"diff_ids\":[\"" DIGEST_A "\"]}"

static const struct {
        const char *text, *history;
} histories[] = {
        { "{" ROOTFS "}", "" },
        { "{\"history\":[]," ROOTFS "}", "" },
        { "{\"history\":null," ROOTFS "}", "" },
        { "{\"history\":[1,[2],{\"history\":[3]},\"]\"]," ROOTFS "}", "1,[2],{\"history\":[3]},\"]\"" },
        { "{" ROOTFS ", \"history\" : [ {} ] }", " {} " },
        { "{\"config\":{\"history\":[1]}," ROOTFS ",\"other\":[2]}", "" },
        { "{\"a\":[{\"history\":[1]}]," ROOTFS "}", "" },
};

START_TEST(test_history) {
        const char *text = histories[_i].text;
        TextRange history;
        g_auto(GStrv) diff_ids = config_parse_diff_ids(text, strlen(text), &history, NULL);
        g_autofree char *found = NULL;

        ck_assert_ptr_nonnull(diff_ids);
        found = g_strndup(text + history.begin, history.end - history.begin);
        ck_assert_str_eq(found, histories[_i].history);
}
END_TEST

/* From an image that buildah built: what it called its layers. */
START_TEST(test_chain_ids) {
        static const char *const diff_ids[] = {
                "sha256:4412181a8ed33c2c89ca6bf13e7eb70ce399127623cb469ac34c2589f944dfaa",
                "sha256:3664d9a92f071d7e8adefe191d9451e42b11c62c2bc2480006b7da26d869090f",
                "sha256:0ffec734cc3cf13e110267908128baa992bd7616c7b4ad9c72c801d029c5a5c4",
                "sha256:f6f00b72558edb0c4a090115e924d4cf8cdf09b02afdfae120eef6f5bb61934c",
                NULL,
        };
        g_auto(GStrv) ids = layer_chain_ids((char *const *) diff_ids);
        g_autofree char *joined = g_strjoinv(" ", ids);

        ck_assert_str_eq(joined, "4412181a8ed33c2c89ca6bf13e7eb70ce399127623cb469ac34c2589f944dfaa "
                                 "0c626aa98f7f21dcce1a86f273c358cc2672e42e5e7a0d32cea53da1755a909d "
                                 "e45f6edf7739457454ec5841ca391d5e84fbea358721069f1efd144656be1b6a "
                                 "feb26579efb50e1b1467226b416c8d774a9e8ac206c48cb375a3599614273ff5");
}
END_TEST

START_TEST(test_digests) {
        g_autofree char *digest = digest_compute("abc", 3);

        ck_assert_str_eq(digest, "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        ck_assert(digest_is_valid(digest));
        ck_assert(!digest_is_valid(ID_A));
        ck_assert(!digest_is_valid("sha256:" ID_A "a"));
        ck_assert(!digest_is_valid("sha256:Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
        ck_assert(id_is_valid(ID_A));
        ck_assert(!id_is_valid("a"));
        ck_assert(!id_is_valid(""));
}
END_TEST

START_TEST(test_image_list) {
        static const char text[] =
                "[{\"id\": \"one\", \"names\": [\"quay.io/a/b:1\", \"quay.io/a/b@" DIGEST_A "\"], "
                "\"names-history\": [\"old.example/x:1\"], \"layer\": \"top\", \"digest\": \"" DIGEST_A "\","
                "\"metadata\": \"{\\\"id\\\": 1}\", \"big-data-sizes\": {\"manifest\": 5},"
                "\"big-data-digests\": {\"manifest\": \"" DIGEST_A "\", \"manifest-" DIGEST_B "\": \"" DIGEST_B
                "\", \"signature-x\": \"s\"}}, {\"id\": \"two\", \"names\": null}, {}]";
        g_autoptr(ImageList) list = image_list_parse(text, strlen(text), NULL);

        ck_assert_ptr_nonnull(list);
        ck_assert_uint_eq(list->records->len, 3);
        const ImageRecord *one = list->records->pdata[0];
        ck_assert_str_eq(one->layer, "top");
        ck_assert(image_record_has_id(one, "one") && !image_record_has_id(one, "on"));
        ck_assert(image_record_has_id_prefix(one, "on") && !image_record_has_id_prefix(one, "t"));
        ck_assert(image_record_has_name(one, "quay.io/a/b:1"));
        ck_assert(!image_record_has_name(one, "old.example/x:1"));
        ck_assert(image_record_has_repository(one, "quay.io/a/b"));
        ck_assert(!image_record_has_repository(one, "quay.io/a") &&
                  !image_record_has_repository(one, "quay.io/a/bc"));
        ck_assert(image_record_has_manifest(one, DIGEST_A) && image_record_has_manifest(one, DIGEST_B));
        ck_assert(!image_record_has_manifest(one, "s"));
        ck_assert_str_eq(image_record_manifest(one, "manifest"), DIGEST_A);
        ck_assert_ptr_null(image_record_manifest(one, "signature-x"));

        const ImageRecord *last = list->records->pdata[2];
        ck_assert(!image_record_has_id(last, "x") && !image_record_has_id_prefix(last, ""));
        ck_assert(!image_record_has_manifest(last, DIGEST_A) && !image_record_has_name(last, "x"));
}
END_TEST

static const char *const broken_lists[] = {
        "[", "[{\"id\": \"one\"", "[{\"id\": \"one\"}", "[{\"id\": \"one\"}]]", "[{\"id\": \"\xff\"}]", "[{id: 1}]",
        " ",
};

START_TEST(test_broken_list) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(image_list_parse(broken_lists[_i], strlen(broken_lists[_i]), &error));
        ck_assert_int_eq(error->code, KT_ERROR_FAILED);
        ck_assert_msg(g_str_has_prefix(error->message, "it is no valid JSON: "), "%s", error->message);
}
END_TEST

/* Of a type that was not expected, or nothing at all: no images, but no crash either. */
static const char *const odd_lists[] = {
        "", "null", "{}", "[]", "[[{\"id\": \"a\"}]]", "{\"id\": \"a\"}", "\"id\"", "[\"id\", 1, null]",
};

START_TEST(test_odd_list) {
        g_autoptr(ImageList) list = image_list_parse(odd_lists[_i], strlen(odd_lists[_i]), NULL);

        ck_assert_ptr_nonnull(list);
        ck_assert_uint_eq(list->records->len, 0);
}
END_TEST

#define RECORD(id, names) "{\"id\":\"" id "\",\"names\":[" names "]}"
#define NAMED(id) RECORD(id, "\"a/b:1\"")

/* id: of the one image that is found without parsing all of the text; NULL: it takes all of it. */
static const struct {
        const char *text;
        const char *id;
} quick_lists[] = {
        { "[" NAMED("1") "]", "1" },
        { "[" NAMED("1") "," NAMED("2") "]", "1" },
        { "[" RECORD("1", "") "," NAMED("2") "," RECORD("3", "") "]\n", "2" },
        { "[" RECORD("1", "\"a/b:10\",\"xa/b:1\"") "," NAMED("2") "]", "2" },
        { "[{\"id\":\"1\",\"names-history\":[\"a/b:1\"]}," NAMED("2") "]", "2" },
        { "[{\"id\":\"1\",\"names\":[\"a/b:1\"],\"sizes\":{\"x\":1}}]", "1" },
        { "[{\"id\":\"1\",\"sizes\":{\"x\":1},\"names\":[\"a/b:1\"]}]", "1" },
        { "[{\"id\":\"1\",\"metadata\":\"{\\\"id\\\":\\\"a/b:1\"}," NAMED("2") "]", "2" },
        { "[" NAMED("1") ",{", "1" }, /* the rest is not looked at */
        { "[" RECORD("1", "") "]", NULL },
        { "[" RECORD("1", "\"a\\/b:1\"") "]", NULL },
        { "[{\"id\":\"1\",\"flags\":" NAMED("2") "}]", NULL },
        { "[{\"id\":\"1\",\"flags\":[" NAMED("2") "]}]", NULL },
        { "[{\"names\":[\"a/b:1\"],\"id\":\"1\"}]", NULL },
        { "[ " NAMED("1") "]", NULL },
        { "[" NAMED("1") " ]", NULL },
        { "[" RECORD("1", "") ", " NAMED("2") "]", NULL },
        { "[{\"id\":\"1\",\"names\":[\"a/b:1\"", NULL },
        { "[{\"id\":\"1\",\"names\":[\"a/b:1\"],,}]", NULL },
        { "[" NAMED("1"), NULL },
        { NAMED("1"), NULL },
        { "\"a/b:1\"", NULL },
        { "[\"a/b:1\"]", NULL },
        { "", NULL },
};

START_TEST(test_quick_list) {
        /* Without a NUL at the end, as a mapped file. */
        size_t length = strlen(quick_lists[_i].text);
        g_autofree char *text = g_memdup2(quick_lists[_i].text, length);
        g_autoptr(ImageList) list = image_list_find_name(text, length, "a/b:1");

        ck_assert_msg(!list == !quick_lists[_i].id, "%s", quick_lists[_i].text);
        if (list) {
                ck_assert_uint_eq(list->records->len, 1);
                ck_assert(image_record_has_id(list->records->pdata[0], quick_lists[_i].id));
        }
}
END_TEST

TEST_MAIN("documents", {
        tcase_add_loop_test(tcase, test_manifest, 0, G_N_ELEMENTS(manifests));
        tcase_add_test(tcase, test_depth);
        tcase_add_loop_test(tcase, test_config, 0, G_N_ELEMENTS(configs));
        tcase_add_loop_test(tcase, test_history, 0, G_N_ELEMENTS(histories));
        tcase_add_test(tcase, test_chain_ids);
        tcase_add_test(tcase, test_digests);
        tcase_add_test(tcase, test_image_list);
        tcase_add_loop_test(tcase, test_broken_list, 0, G_N_ELEMENTS(broken_lists));
        tcase_add_loop_test(tcase, test_odd_list, 0, G_N_ELEMENTS(odd_lists));
        tcase_add_loop_test(tcase, test_quick_list, 0, G_N_ELEMENTS(quick_lists));
})
