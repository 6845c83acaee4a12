/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/install/quadlets-file.h"
#include "tests/unit/base/parse-tests.h"

static char *parse(const char *value, GError **error) {
        g_autoptr(GPtrArray) files = quadlets_file_split(value, error);
        GString *text;

        if (!files)
                return NULL;
        text = g_string_new(NULL);
        for (guint i = 0; i < files->len; i++) {
                const QuadletFile *file = files->pdata[i];

                g_string_append_printf(text, "%s<%s>", file->name, file->text);
        }
        return g_string_free(text, FALSE);
}

static const GoodValue good[] = {
        { "# FileName=web\n[Container]\nImage=x\n", "web.container<# FileName=web\n[Container]\nImage=x\n\n>" },
        { "# FileName=web.container\n[Container]", "web.container<# FileName=web.container\n[Container]\n>" },
        { "# FileName=a\n[Pod]\n---\n\n# FileName=a\n[Volume]\n---\n",
          "a.pod<# FileName=a\n[Pod]\n>a.volume<\n# FileName=a\n[Volume]\n>" },
        { "---\n# FileName=a\n  [Network]  \n ---  \n", "a.network<# FileName=a\n  [Network]  \n>" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "nothing" },
        { "---\n---\n", KT_ERROR_USAGE, "nothing" },
        { "[Container]\n", KT_ERROR_USAGE, "line 1: a line '# FileName=NAME'" },
        { "# FileName=a\n[Pod]\n---\n# FileName=b\n[Unit]\n", KT_ERROR_USAGE, "line 4: no section of Quadlet's" },
        { "# FileName=../a\n[Pod]\n", KT_ERROR_USAGE, "line 1" },
        { "# FileName=.a\n[Pod]\n", KT_ERROR_USAGE, "line 1" },
        { "# FileName=\n[Pod]\n", KT_ERROR_USAGE, "line 1" },
        { "# FileName=a\n[Pod]\n---\n# FileName=a.pod\n[Pod]\n", KT_ERROR_USAGE, "line 4: 'a.pod' for the second" },
};

PARSE_TESTS(parse)

TEST_MAIN("quadlets-file", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
