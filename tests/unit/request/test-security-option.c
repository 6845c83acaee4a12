/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/security-option.h"
#include "tests/unit/base/parse-tests.h"

static const GoodValue good[] = {
        { "no-new-privileges", "no-new-privileges on" },
        { "no-new-privileges=true", "no-new-privileges on true" },
        { "no-new-privileges:1", "no-new-privileges on 1" },
        { "no-new-privileges=false", "no-new-privileges off false" },
        { "seccomp=unconfined", "seccomp off unconfined" },
        { "seccomp:unconfined", "seccomp off unconfined" },
        { "mask=/proc/x", "mask off /proc/x" },
        { "mask=/a=b:/c:/d e", "mask off /a=b:/c:/d e" },
        { "unmask=/proc/[^k]*:/proc/[a-k!]*", "unmask off /proc/[^k]*:/proc/[a-k!]*" },
        { "mask=/x[!]", "mask off /x[!]" }, /* no pattern */
        { "unmask=ALL", "unmask off ALL" },
        { "unmask=/proc/*:all:/", "unmask off /proc/*:all:/" },
        { "seccomp=/etc/a=b:c.json", "seccomp on /etc/a=b:c.json" },
        { "label=disable", "label off disable" },
        { "label:disable", "label off disable" },
        { "label:type:spc_t", "label off type:spc_t" },
        { "label=level:s0:c1,c2", "label off level:s0:c1,c2" },
        { "apparmor=unconfined", "apparmor off unconfined" },
        { "apparmor=a profile//with=all", "apparmor off a profile//with=all" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_UNSUPPORTED, "''" },
        { "no-new-privileges=", KT_ERROR_USAGE, "neither true nor false" },
        { "no-new-privileges=yes", KT_ERROR_USAGE, "'no-new-privileges=yes'" },
        { "no-new-privilege", KT_ERROR_UNSUPPORTED, "'no-new-privilege'" },
        { "seccomp", KT_ERROR_USAGE, "absolute path" },
        { "seccomp=", KT_ERROR_USAGE, "absolute path" },
        { "seccomp=profile.json", KT_ERROR_USAGE, "absolute path" },
        { "label", KT_ERROR_USAGE, "'label=' is no label option" },
        { "label=disabled", KT_ERROR_USAGE, "'label=disabled' is no label option" },
        { "label=type:", KT_ERROR_USAGE, "'' is no SELinux type" },
        { "apparmor", KT_ERROR_USAGE, "the name of a profile" },
        { "apparmor=", KT_ERROR_USAGE, "the name of a profile" },
        { "apparmor=a\nb", KT_ERROR_USAGE, "the name of a profile" },
        { "mask", KT_ERROR_USAGE, "the path is empty" },
        { "mask=", KT_ERROR_USAGE, "the path is empty" },
        { "mask=/a::/b", KT_ERROR_USAGE, "the path is empty" },
        { "mask=/a:b", KT_ERROR_USAGE, "'b' is not an absolute path" },
        { "mask=ALL", KT_ERROR_USAGE, "'ALL' is not an absolute path" },
        { "mask=/a:/b/..//", KT_ERROR_USAGE, "'/b/..//' is the whole container" },
        { "mask=/l/../key", KT_ERROR_USAGE, "'/l/../key' cannot be masked: behind a link" },
        { "mask=/a/..:/b", KT_ERROR_USAGE, "'/a/..' is the whole container" },
        { "mask=/a/b/..", KT_ERROR_USAGE, "'/a/b/..' cannot be masked: behind a link" },
        { "mask=//dev/", KT_ERROR_USAGE, "'//dev/' cannot be masked, as nothing starts" },
        { "mask=/a:/proc/self/environ", KT_ERROR_USAGE, "'/proc/self/environ' is another one for each process" },
        { "mask=/proc//net", KT_ERROR_USAGE, "'/proc//net' is another one for each process" },
        { "unmask=", KT_ERROR_USAGE, "the path is empty" },
        { "unmask=/proc/[!k]*", KT_ERROR_USAGE, "'[!' in the pattern '/proc/[!k]*' is not supported" },
        { "unmask=/x:/proc/[[:alpha:]]*", KT_ERROR_USAGE, "'[:' in the pattern" },
        { "unmask=/proc/[a[:alpha:]]*", KT_ERROR_USAGE, "'[:' in the pattern" },
        { "unmask=/proc/[[=k=]]core", KT_ERROR_USAGE, "'[=' in the pattern" },
        { "unmask=/proc/[[.k.]]core", KT_ERROR_USAGE, "'[.' in the pattern" },
        { "unmask=/proc/[]k]core", KT_ERROR_USAGE, "'[]' in the pattern" },
        { "unmask=/proc/[^]k]*", KT_ERROR_USAGE, "'[^]' in the pattern" },
        { "unmask=proc/*", KT_ERROR_USAGE, "'proc/*' is not an absolute path" },
};

static char *parse(const char *value, GError **error) {
        static const char *const kinds[] = {
                [SECURITY_NO_NEW_PRIVILEGES] = "no-new-privileges",
                [SECURITY_SECCOMP] = "seccomp",
                [SECURITY_MASK] = "mask",
                [SECURITY_UNMASK] = "unmask",
                [SECURITY_LABEL] = "label",
                [SECURITY_APPARMOR] = "apparmor",
        };
        SecurityOption option;

        if (!security_option_parse(value, &option, error))
                return NULL;
        return g_strjoin(" ", kinds[option.kind], option.enabled ? "on" : "off", option.text, NULL);
}

PARSE_TESTS(parse)

TEST_MAIN("security-option", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
