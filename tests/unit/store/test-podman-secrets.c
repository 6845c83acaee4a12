/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/podman-secrets.h"
#include "tests/unit/base/expect-error.h"
#include "tests/unit/store/store-builder.h"
#include "tests/unit/test-main.h"

#define ONE "b0fcf80544a8bb336d3528d28"
#define TWO "b0fc96d407cd1a31c13f72660"
#define DIRECTORY "store/secrets/"

/* As Podman 5.4.2 writes them, but for the names. */
static const char names[] =
        "{\n"
        "  \"secrets\": {\n"
        "    \"" ONE "\": {\n"
        "      \"name\": \"one\", \"id\": \"" ONE "\", \"labels\": { \"nameToID.one\": \"no\" },\n"
        "      \"createdAt\": \"2026-11-22T07:09:25.799130339Z\", \"driver\": \"file\",\n"
        "      \"driverOptions\": { \"path\": \"/store/secrets/filedriver\" }\n"
        "    },\n"
        "    \"" TWO "\": { \"name\": \"t.w.o\", \"id\": \"" TWO "\", \"driver\": \"file\",\n"
        "      \"driverOptions\": { \"path\": \"/elsewhere\" } },\n"
        "    \"0c\": { \"name\": \"shelled\", \"id\": \"0c\", \"driver\": \"shell\", \"driverOptions\": {} },\n"
        "    \"0d\": { \"name\": \"lost\", \"id\": \"0d\", \"driver\": \"file\" },\n"
        "    \"0e\": { \"name\": \"empty\", \"id\": \"0e\", \"driver\": \"file\" }\n"
        "  },\n"
        "  \"nameToID\": { \"one\": \"" ONE "\", \"t.w.o\": \"" TWO "\", \"shelled\": \"0c\", \"lost\": \"0d\","
        " \"empty\": \"0e\" },\n"
        "  \"idToName\": { \"" ONE "\": \"one\", \"" TWO "\": \"t.w.o\", \"0c\": \"shelled\", \"0d\": \"lost\","
        " \"0e\": \"empty\" }\n"
        "}\n";

static const struct {
        const char *wanted, *value; /* NULL: there is none */
        gsize length;
        int code; /* with message: of an error */
        const char *message;
} rows[] = {
        { "one", "tok", 3 },
        { ONE, "tok", 3 },
        { "b0fcf", "tok", 3 },
        { "t.w.o", "bin\0ary", 7 },
        { TWO, "bin\0ary", 7 },
        { "empty", "", 0 },
        { "two", NULL },
        { "on", NULL },
        { "b0fcf80544a8bb336d3528d281", NULL },
        { "b0fc", NULL, 0, KT_ERROR_USAGE, "the ids of several of Podman's secrets begin with 'b0fc'" },
        { "shelled", NULL, 0, KT_ERROR_UNSUPPORTED, "with its driver 'shell', which keyturn cannot read" },
        { "lost", NULL, 0, KT_ERROR_FAILED, "secretsdata.json' does not have the value of the secret" },
};

static StoreBuilder *build(void) {
        static const char *const stores[] = { "/store", NULL };
        StoreBuilder *builder = store_builder_new(stores);

        store_builder_write(builder, DIRECTORY "secrets.json", names);
        store_builder_write(builder, DIRECTORY "filedriver/secretsdata.json",
                            "{ \"" ONE "\": \"dG9r\", \"0e\": \"\", \"" TWO "\": \"bm8=\" }");
        store_builder_write(builder, "elsewhere/secretsdata.json", "{ \"" TWO "\": \"YmluAGFyeQ==\" }");
        return builder;
}

START_TEST(test_find) {
        g_autoptr(StoreBuilder) builder = build();
        g_autoptr(GError) error = NULL;
        g_autofree char *store = NULL;
        char *value;
        gsize length = 0;
        bool found = podman_secret_find(builder->root, rows[_i].wanted, &value, &length, &store, &error);

        if (rows[_i].message) {
                ck_assert(!found);
                expect_error(error, rows[_i].code, rows[_i].message);
                return;
        }
        ck_assert_msg(found, "%s", error ? error->message : "");
        ck_assert(g_str_has_suffix(store, "/store/secrets"));
        ck_assert_int_eq(!value, !rows[_i].value);
        if (value) {
                ck_assert_uint_eq(length, rows[_i].length);
                ck_assert_mem_eq(value, rows[_i].value, length + 1);
        }
        secret_value_free(value, length);
}
END_TEST

START_TEST(test_no_store) {
        static const char *const stores[] = { "/store", NULL };
        g_autoptr(StoreBuilder) builder = store_builder_new(stores);
        g_autofree char *store = NULL;
        char *value;
        gsize length;

        ck_assert(podman_secret_find(builder->root, "one", &value, &length, &store, NULL));
        ck_assert_ptr_null(value);
}
END_TEST

/* What is in a damaged file may be secret. */
START_TEST(test_damaged) {
        g_autoptr(StoreBuilder) builder = build();
        g_autoptr(GError) error = NULL;
        g_autofree char *store = NULL;
        char *value;
        gsize length;

        store_builder_write(builder, DIRECTORY "filedriver/secretsdata.json", "{ \"" ONE "\": \"c2VjcmV0\" c2VjcmV0");
        ck_assert(!podman_secret_find(builder->root, "one", &value, &length, &store, &error));
        expect_error(error, KT_ERROR_FAILED,
                     "secretsdata.json' is damaged, which Podman does not mend: move its directory 'secrets' away");
        ck_assert_ptr_null(strstr(error->message, "c2VjcmV0"));
        ck_assert_ptr_null(value);
}
END_TEST

TEST_MAIN("podman-secrets", {
        tcase_add_loop_test(tcase, test_find, 0, G_N_ELEMENTS(rows));
        tcase_add_test(tcase, test_no_store);
        tcase_add_test(tcase, test_damaged);
})
