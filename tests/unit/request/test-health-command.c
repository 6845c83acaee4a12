/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/health-command.h"
#include "tests/unit/base/parse-tests.h"

/* As `podman inspect` of Podman 5.4.2 shows each; see also tests/booted/health. */
static const GoodValue good[] = {
        { "none", "(none)" },
        { "NONE", "(none)" },
        { "none of it", "(none)" },
        { "true", "[/bin/sh][-c][true]" },
        { " true", "[/bin/sh][-c][ true]" },
        { "curl -f  http://x || exit 1", "[/bin/sh][-c][curl -f  http://x || exit 1]" },
        { "CMD /agent  health", "[/agent][health]" },
        { "CMD-SHELL curl -f  x || exit 1", "[/bin/sh][-c][curl -f  x || exit 1]" },
        { "CMDS x", "[/bin/sh][-c][CMDS x]" },
        { "nonesuch", "[/bin/sh][-c][nonesuch]" },
        { "[\"curl\",\"-f\"]", "[curl][-f]" },
        { "[\"curl\", \"-f\", \"\"]", "[curl][-f][]" },
        { "[\"curl -f\"]", "[/bin/sh][-c][curl -f]" },
        { "[\"CMD-SHELL\",\"curl -f\"]", "[/bin/sh][-c][curl -f]" },
        { "[\"CMD-SHELL\",\"curl\",\"-f\"]", "[/bin/sh][-c][curl -f]" },
        /* no JSON */
        { "[ -e /run/ready ]", "[/bin/sh][-c][[ -e /run/ready ]]" },
        { "[1, 2]", "[/bin/sh][-c][[1, 2]]" },
        { "[\"a\", null]", "[/bin/sh][-c][[\"a\", null]]" },
        { "{}", "[/bin/sh][-c][{}]" },
};

static const BadValue bad[] = {
        { "cmd true", KT_ERROR_USAGE, "write CMD" },
        { "Cmd-Shell true", KT_ERROR_USAGE, "write CMD-SHELL" },
        { "CMD", KT_ERROR_USAGE, "behind CMD is missing" },
        { "CMD-SHELL  ", KT_ERROR_USAGE, "behind CMD-SHELL is missing" },
        { "CMD \t\v", KT_ERROR_USAGE, "behind CMD is missing" },
        { "[]", KT_ERROR_USAGE, "names no command" },
        { "[\"CMD-SHELL\"]", KT_ERROR_USAGE, "names no command" },
        { "[\"\"]", KT_ERROR_USAGE, "names no command" },
        { "[\"CMD\",\"curl\",\"-f\"]", KT_ERROR_USAGE, "leave \"CMD\" out" },
        { "[\"none\"]", KT_ERROR_USAGE, "leave \"none\" out" },
};

static char *parse(const char *value, GError **error) {
        g_auto(GStrv) words = NULL;
        GString *text = g_string_new(NULL);

        if (!health_command_parse(value, &words, error)) {
                g_string_free(text, TRUE);
                return NULL;
        }
        for (char **word = words; word && *word; word++)
                g_string_append_printf(text, "[%s]", *word);
        if (!words)
                g_string_append(text, "(none)");
        return g_string_free(text, FALSE);
}

PARSE_TESTS(parse)

TEST_MAIN("health-command", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
