/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/label-option.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "disable", "disable" },
        { "nested", "nested" },
        { "type:qm_t", "type=qm_t" },
        { "filetype:qm_file_t", "filetype=qm_file_t" },
        { "level:s0:c1,c2", "level=s0:c1,c2" },
        { "level:s0-s15:c0.c1023", "level=s0-s15:c0.c1023" },
        { "user:system_u", "user=system_u" },
        { "role:system_r", "role=system_r" },
        { "type:first type:second disable", "disable type=second" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "'label=' is no label option: there are disable" },
        { "Disable", KT_ERROR_USAGE, "'label=Disable' is no label option" },
        { "type", KT_ERROR_USAGE, "'label=type' is no label option" },
        { "types:a", KT_ERROR_USAGE, "no label option" },
        { "typ:a", KT_ERROR_USAGE, "no label option" },
        { "type:", KT_ERROR_USAGE, "'' is no SELinux type, such as container_t" },
        { "type:a:b", KT_ERROR_USAGE, "'a:b' is no SELinux type" },
        { "type:a\",context=\"b", KT_ERROR_USAGE, "is no SELinux type" },
        { "level:s0:c1\"", KT_ERROR_USAGE, "is no SELinux level, such as s0:c100,c200" },
        { "filetype:a,b", KT_ERROR_USAGE, "'a,b' is no SELinux filetype" },
        { "user:a\nb", KT_ERROR_USAGE, "is no SELinux user" },
};

static void append(GString *text, const char *name, const char *value) {
        if (value)
                g_string_append_printf(text, "%s%s=%s", text->len > 0 ? " " : "", name, value);
}

/* Several, with blanks between. */
static char *parse(const char *value, GError **error) {
        g_auto(GStrv) options = g_strsplit(value, " ", -1);
        LabelRequest request = { 0 };
        GString *text = g_string_new(NULL);
        bool ok = options[0] || label_option_parse("", &request, error);

        for (char **option = options; ok && *option; option++)
                ok = label_option_parse(*option, &request, error);
        if (request.disable)
                g_string_append(text, "disable");
        if (request.nested)
                g_string_append(text, "nested");
        append(text, "user", request.user);
        append(text, "role", request.role);
        append(text, "type", request.type);
        append(text, "level", request.level);
        append(text, "filetype", request.file_type);
        ck_assert_int_eq(label_request_has_parts(&request), strchr(text->str, '=') != NULL);
        label_request_clear(&request);
        return g_string_free(text, !ok);
}

PARSE_TESTS(parse)

TEST_MAIN("label-option", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
