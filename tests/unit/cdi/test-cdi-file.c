/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/cdi/cdi-file.h"
#include "tests/unit/base/parse-tests.h"

#define FILE_OF(edits)                                                                                           \
        "{\"cdiVersion\":\"0.6.0\",\"kind\":\"v.com/c\",\"devices\":[{\"name\":\"a\",\"containerEdits\":{" edits \
        "}}]}"

static const GoodValue good[] = {
        { FILE_OF(""), "v.com/c a: env 0 nodes 0 mounts 0 hooks 0 gids 0" },
        { FILE_OF("\"env\":[\"A=\",\"B=c=d\"],\"additionalGids\":[0,5]"),
          "v.com/c a: env 2 nodes 0 mounts 0 hooks 0 gids 1" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/dev/x\",\"type\":\"u\",\"major\":1,\"minor\":2,"
                  "\"permissions\":\"r\"},{\"path\":\"/dev/y\",\"hostPath\":\"/dev/z\",\"fileMode\":438,"
                  "\"uid\":4294967294}]"),
          "v.com/c a: env 0 nodes 2 mounts 0 hooks 0 gids 0 /dev/x - c 1:2 -1 -1 r /dev/y /dev/z 0 -1:-1 438 "
          "4294967294 rwm" },
        { FILE_OF("\"mounts\":[{\"hostPath\":\"/a\",\"containerPath\":\"/b\",\"options\":[\"ro\"],"
                  "\"type\":\"bind\"}],\"hooks\":[{\"hookName\":\"createContainer\",\"path\":\"/h\","
                  "\"args\":[\"h\"],\"env\":[],\"timeout\":1}]"),
          "v.com/c a: env 0 nodes 0 mounts 1 hooks 1 gids 0" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "not JSON" },
        { "{}", KT_ERROR_FAILED, "it needs cdiVersion and kind" },
        { "{\"cdiVersion\":\"0.6.0\"}", KT_ERROR_FAILED, "it needs cdiVersion and kind" },
        { "{\"cdiVersion\":\"2.0.0\"}", KT_ERROR_UNSUPPORTED, "'2.0.0' is no version of CDI" },
        { FILE_OF("\"env\":[\"A\"]"), KT_ERROR_FAILED, "'A' is no variable" },
        { FILE_OF("\"env\":[\"=A\"]"), KT_ERROR_FAILED, "'=A' is no variable" },
        { FILE_OF("\"deviceNodes\":[{}]"), KT_ERROR_FAILED, ".deviceNodes[0]: its path is missing" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"x\"}]"), KT_ERROR_FAILED, "'x' is not an absolute path" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/x\",\"type\":\"p\"}]"), KT_ERROR_UNSUPPORTED, "'p' is no type" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/x\",\"permissions\":\"rx\"}]"), KT_ERROR_FAILED,
          "'rx' are no permissions" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/x\",\"permissions\":\"rwmr\"}]"), KT_ERROR_FAILED,
          "no permissions" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/x\",\"major\":-1}]"), KT_ERROR_FAILED,
          ".major: -1 is no whole number" },
        { FILE_OF("\"deviceNodes\":[{\"path\":\"/x\",\"minor\":1048576}]"), KT_ERROR_FAILED, ".minor: 1048576" },
        { FILE_OF("\"mounts\":[{\"hostPath\":\"/x\"}]"), KT_ERROR_FAILED, "it needs hostPath and containerPath" },
        { FILE_OF("\"mounts\":[{\"hostPath\":\"a\",\"containerPath\":\"/b\"}]"), KT_ERROR_FAILED, "absolute" },
        { FILE_OF("\"hooks\":[{\"path\":\"/x\"}]"), KT_ERROR_FAILED, "it needs hookName and path" },
        { FILE_OF("\"intelRdt\":{}"), KT_ERROR_UNSUPPORTED, "does not have this part" },
        { FILE_OF("\"additionalGids\":[4294967295]"), KT_ERROR_FAILED, "additionalGids" },
        { FILE_OF("\"devices\":[]"), KT_ERROR_FAILED, "unknown key 'devices'" },
        { "{\"cdiVersion\":\"0.6.0\",\"kind\":\"v/c\",\"devices\":[{}]}", KT_ERROR_FAILED, "its name is missing" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(CdiFile) file = cdi_file_parse(value, strlen(value), error);
        const CdiEdits *edits = file ? cdi_file_find(file, "a") : NULL;
        g_autoptr(GString) text = g_string_new(NULL);

        if (!file)
                return NULL;
        ck_assert_ptr_null(cdi_file_find(file, "b"));
        g_string_printf(text, "%s a: env %u nodes %u mounts %u hooks %u gids %u", file->kind, edits->env->len,
                        edits->nodes->len, edits->mounts->len, edits->hooks->len, edits->gids->len);
        for (guint i = 0; i < edits->nodes->len; i++) {
                const CdiNode *node = edits->nodes->pdata[i];

                g_string_append_printf(text, " %s %s %c %d:%d %d %" G_GINT64_FORMAT " %s", node->path,
                                       node->host_path ?: "-", node->type ? node->type : '0', (int) node->major,
                                       (int) node->minor, (int) node->mode, node->uid, node->access);
        }
        return g_strdup(text->str);
}

PARSE_TESTS(parse)

TEST_MAIN("cdi-file", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
