/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/secret-request.h"
#include "tests/unit/base/parse-tests.h"

/* All were tried with Podman 5.4.2, which takes and refuses the same; but see `bad`. */
static const GoodValue good[] = {
        { "token", "token file /run/secrets/token 0:0 444" },
        { "a b.c-d%", "a b.c-d% file /run/secrets/a b.c-d% 0:0 444" },
        { "token,uid=5,gid=6,mode=0400", "token file /run/secrets/token 5:6 400" },
        { "token,UID=5,GID=6", "token file /run/secrets/token 5:6 444" },
        { "token,type=mount", "token file /run/secrets/token 0:0 444" },
        { "token,target=a/b", "token file /run/secrets/a/b 0:0 444" },
        { "token,target=../b", "token file /run/b 0:0 444" },
        { "token,target=/etc//ssl/./key", "token file /etc/ssl/key 0:0 444" },
        { "token,target=/dev/a", "token file /dev/a 0:0 444" },
        { "token,target=/dev/shm/a", "token file /dev/shm/a 0:0 444" },
        { "token,target=", "token file /run/secrets/token 0:0 444" },
        { "token,target=a,target=b", "token file /run/secrets/b 0:0 444" },
        { "source=token,type=env", "token variable token" },
        { "type=env,source=token", "token variable token" },
        { "source=a,target=b", "a file /run/secrets/b 0:0 444" },
        { "token,type=env", "token variable token" },
        { "token,type=env,target=TOKEN", "token variable TOKEN" },
        { "token,target=TOKEN,type=env", "token variable TOKEN" },
        { "token,type=env,target=", "token variable token" },
};

static const BadValue bad[] = {
        { "", KT_ERROR_USAGE, "the secret's name is missing" },
        { ",", KT_ERROR_USAGE, "the secret's name is missing" },
        { ",type=env", KT_ERROR_USAGE, "the secret's name is missing" },
        { "type=env,target=x", KT_ERROR_USAGE, "the secret's name is missing" },
        { "token,", KT_ERROR_USAGE, "'': the form is OPTION=VALUE" },
        { "token,mode", KT_ERROR_USAGE, "'mode': the form is OPTION=VALUE" },
        { "token,other", KT_ERROR_USAGE, "'other': the form is OPTION=VALUE" },
        { "source=token", KT_ERROR_USAGE, "'source=token' is no name" },
        { "type=env", KT_ERROR_USAGE, "'type=env' is no name" },
        { "a/b", KT_ERROR_USAGE, "'a/b' is no name" },
        { "..", KT_ERROR_USAGE, "'..' is no name" },
        { "token,colour=red", KT_ERROR_USAGE, "unknown option 'colour'" },
        { "token,Mode=400", KT_ERROR_USAGE, "unknown option 'Mode'" },
        { "token,type=file", KT_ERROR_USAGE, "type 'file' is neither mount nor env" },
        { "token,type=mount,type=env", KT_ERROR_USAGE, "a secret has one type" },
        { "token,type=env,uid=3", KT_ERROR_USAGE, "are for a file, not for type=env" },
        { "token,mode=400,type=env", KT_ERROR_USAGE, "are for a file, not for type=env" },
        { "token,mode=999", KT_ERROR_USAGE, "'999' is no octal mode" },
        { "token,mode=", KT_ERROR_USAGE, "'' is no octal mode" },
        { "token,uid=root", KT_ERROR_USAGE, "'root' is no numeric id" },
        { "token,gid=-1", KT_ERROR_USAGE, "'-1' is no numeric id" },
        { "token,target=/", KT_ERROR_USAGE, "'/' is no path of a file" },
        { "token,target=/proc/sys/a", KT_ERROR_USAGE, "no file can be on '/proc/sys/a'" },
        { "token,target=../../sys/a", KT_ERROR_USAGE, "no file can be on '/sys/a'" },
        { "token,target=/dev/", KT_ERROR_USAGE, "no file can be on '/dev'" },
        { "token,target=/dev/shm", KT_ERROR_USAGE, "no file can be on '/dev/shm'" },
        /* These Podman takes: the kernel has no such user; the bits are lost; the variable is another one. */
        { "token,uid=4294967295", KT_ERROR_USAGE, "no numeric id" },
        { "token,mode=4755", KT_ERROR_USAGE, "'4755' is no octal mode" },
        { "token,type=env,target=A=B", KT_ERROR_USAGE, "'A=B' is no name of a variable" },
};

static char *parse(const char *value, GError **error) {
        g_autoptr(SecretRequest) request = secret_request_parse(value, error);

        if (!request)
                return NULL;
        if (request->is_variable)
                return g_strdup_printf("%s variable %s", request->name, request->target);
        return g_strdup_printf("%s file %s %u:%u %o", request->name, request->target, request->uid, request->gid,
                               request->mode);
}

PARSE_TESTS(parse)

static const struct {
        const char *value, *name;
} names[] = {
        { "%i-token,type=%x,,", "%i-token" },
        { "mode=%m,source=%i", "%i" },
        { "%i", "%i" },
        { "type=env,mode=1", NULL },
        { "a=b", "a=b" },
};

START_TEST(test_find_name) {
        g_autofree char *name = secret_request_find_name(names[_i].value);

        ck_assert_pstr_eq(name, names[_i].name);
}
END_TEST

TEST_MAIN("secret-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_find_name, 0, G_N_ELEMENTS(names));
})
