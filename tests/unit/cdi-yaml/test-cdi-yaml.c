/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/cdi-yaml/cdi-yaml.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "a: b", "{\"a\":\"b\"}" },
        { "---\ncdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: \"0\"\n  containerEdits:\n    "
          "deviceNodes:\n"
          "    - path: /dev/nvidia0\n      major: 195\n      fileMode: 438\n- name: all\n...\n",
          "{\"cdiVersion\":\"0.5.0\",\"kind\":\"nvidia.com/gpu\",\"devices\":[{\"name\":\"0\",\"containerEdits\":"
          "{\"deviceNodes\":[{\"path\":\"/dev/nvidia0\",\"major\":195,\"fileMode\":438}]}},{\"name\":\"all\"}]}" },
        /* a number only where one is wanted */
        { "name: 0\nuid: 0\ngid: '0'\nenv: [A=1, 2, true]\nadditionalGids: [44, 0x10]",
          "{\"name\":\"0\",\"uid\":0,\"gid\":\"0\",\"env\":[\"A=1\",\"2\",\"true\"],\"additionalGids\":[44,16]}" },
        { "fileMode: 0666\nuid: 0o17\nmajor: -1\nminor: 1x",
          "{\"fileMode\":438,\"uid\":15,\"major\":\"-1\",\"minor\":\"1x\"}" },
        { "major: 18446744073709551616", "{\"major\":9223372036854775807}" },
        { "a:\nb: ~\nc: null\nd: \"\"\ne: 'null'", "{\"d\":\"\",\"e\":\"null\"}" },
        { "a: &x {uid: 1}\nb: *x\nc:\n- ~\n- {<<: *x, d: e}", /* what comes first is what is said itself */
          "{\"a\":{\"uid\":1},\"b\":{\"uid\":1},\"c\":[{\"d\":\"e\",\"uid\":1}]}" },
        { "a: {}\nb: []\n# nothing\nc: |\n  x\n  y\n", "{\"a\":{},\"b\":[],\"c\":\"x\\ny\\n\"}" },
        { "a: \"\\u00e9\\n\\\"\"", "{\"a\":\"\303\251\\n\\\"\"}" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_FAILED, "it is empty" },
        { "a", KT_ERROR_FAILED, "1:1: there is no map" },
        { "a: b\n---\nc: d", KT_ERROR_FAILED, "3:1: there is a second document" },
        { "a: b\nc: *x", KT_ERROR_FAILED, "2:4: there is no such anchor" },
        { "a: b\na: c", KT_ERROR_FAILED, "2:1: the key is in this map already" },
        { "a: !!str b", KT_ERROR_FAILED, "1:4: tags" },
        { "a: !!python/object:os.system b", KT_ERROR_FAILED, "tags" },
        { "a: \"\\0\"", KT_ERROR_FAILED, "a zero byte" },
        { "a: [\n", KT_ERROR_FAILED, "2:" },
        { "a: b\n\tc: d", KT_ERROR_FAILED, "2:" },
        { "? [a]\n: b", KT_ERROR_FAILED, "a key is no text" },
        { "a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", KT_ERROR_FAILED,
          "more than 32 maps and lists" },
        { "a: \377", KT_ERROR_FAILED, "1:" },
};

static char *parse(const char *value, GError **error) {
        return cdi_yaml_to_json(value, strlen(value), error);
}

PARSE_TESTS(parse)

TEST_MAIN("cdi-yaml", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
