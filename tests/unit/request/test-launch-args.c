/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/request/read-words.h"

static char *join(const GPtrArray *words) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < words->len; i++)
                g_string_append_printf(text, "[%s]", (const char *) words->pdata[i]);
        return g_string_free(text, FALSE);
}

static char *build(const LaunchArgs *args) {
        g_autoptr(GPtrArray) words = launch_args_build(args);

        return join(words);
}

/* What is parsed, and the words that mean the same. Those must parse to themselves. */
static const struct {
        const char *const *words;
        const char *expected;
} good[] = {
        { WORDS("image"), "[image]" },
        { WORDS("image", "-x", "--name", ""), "[image][-x][--name][]" },
        { WORDS("--", "-image", "--", "a"), "[--][-image][--][a]" },
        { WORDS("--", "image"), "[image]" },
        { WORDS("--name", "a", "i"), "[--name][a][i]" },
        { WORDS("--name=a", "i"), "[--name][a][i]" },
        { WORDS("--name=a", "--name=b", "i"), "[--name][b][i]" },
        { WORDS("--entrypoint", "", "i"), "[--entrypoint][][i]" },
        { WORDS("--entrypoint=", "i"), "[--entrypoint][][i]" },
        { WORDS("--entrypoint=[\"a b\",\"c\"]", "i"), "[--entrypoint][[\"a b\",\"c\"]][i]" },
        { WORDS("--entrypoint", "--name", "i"), "[--entrypoint][--name][i]" },
        { WORDS("-e", "A=1", "-eB=2", "-e=C=3", "--env", "D", "--env=E=--x", "i"),
          "[--env][A=1][--env][B=2][--env][C=3][--env][D][--env][E=--x][i]" },
        { WORDS("--env", "A= \t\n\"'\\%i $B ${C}\001\377", "i"), "[--env][A= \t\n\"'\\%i $B ${C}\001\377][i]" },
        { WORDS("--env", "A=", "--env", "A=", "i"), "[--env][A=][--env][A=][i]" },
        { WORDS("-v/a:/b", "-v", "/c:/d:ro", "i"), "[--volume][/a:/b][--volume][/c:/d:ro][i]" },
        { WORDS("-u", "bob", "-w/x", "-hcam", "-lx", "i"),
          "[--hostname][cam][--label][x][--user][bob][--workdir][/x][i]" },
        { WORDS("-u=1", "--group-add", "video", "--group-add=7,audio", "i"),
          "[--user][1][--group-add][video][--group-add][7,audio][i]" },
        { WORDS("--security-opt=mask=/a:/b", "--security-opt", "unmask=ALL", "i"),
          "[--security-opt][mask=/a:/b][--security-opt][unmask=ALL][i]" },
        { WORDS("--add-host", "a;b:::1", "--net", "none", "i"), "[--network][none][--add-host][a;b:::1][i]" },
        { WORDS("--add-host=a", "i"), NULL },
        { WORDS("--tz=local", "--tz", "Etc/GMT+1", "i"), "[--tz][Etc/GMT+1][i]" },
        { WORDS("--tz=../x", "i"), NULL },
        { WORDS("--group-add=keep-groups,video", "i"), NULL },
        { WORDS("--net=none", "i"), "[--network][none][i]" },
        { WORDS("--net=none", "--network", "host", "i"), "[--network][host][i]" },
        { WORDS("-d", "i"), "[--detach][i]" },
        { WORDS("-d=false", "i"), "[--detach=false][i]" },
        { WORDS("--detach=0", "--read-only", "--read-only-tmpfs=F", "--rootfs=T", "--env-host=1", "/r"),
          "[--env-host][--rootfs][--read-only][--read-only-tmpfs=false][--detach=false][/r]" },
        { WORDS("--http-proxy=False", "--print-spec", "i"), "[--http-proxy=false][--print-spec][i]" },
        { WORDS("--detach", "false"), "[--detach][false]" }, /* a flag takes no second word */
        { WORDS("--mount", "type=tmpfs,dst=/a", "--tmpfs=/b", "--shm-size", "1g", "i"),
          "[--mount][type=tmpfs,dst=/a][--tmpfs][/b][--shm-size][1g][i]" },
        { WORDS("--device=/dev/a:/dev/b:r", "--device", "-/dev/c", "i"),
          "[--device][/dev/a:/dev/b:r][--device][-/dev/c][i]" },
        { WORDS("--device=a", "i"), NULL },
        { WORDS("--secret=a,type=env", "--secret", "b", "i"), "[--secret][a,type=env][--secret][b][i]" },
        { WORDS("--secret=a,type=file", "i"), NULL },
        { WORDS("--cap-add=a-nothing-of-the-kind", "i"), NULL },
        { WORDS("--cap-add=all", "--cap-drop", "kill", "--security-opt=no-new-privileges", "--ulimit=host", "i"),
          "[--cap-add][all][--cap-drop][kill][--security-opt][no-new-privileges][--ulimit][host][i]" },
        { WORDS("--network=none", "--sysctl=net.a=1 2", "--annotation", "a=b", "--label", "c", "i"),
          "[--label][c][--annotation][a=b][--network][none][--sysctl][net.a=1 2][i]" },
        { WORDS("--log-driver=none", "--log-opt=tag=x", "--sdnotify=ignore", "--stop-signal", "9", "--state-dir=/s",
                "--env-file", "/e", "i"),
          "[--env-file][/e][--log-driver][none][--log-opt][tag=x][--sdnotify][ignore][--stop-signal][9]"
          "[--state-dir][/s][i]" },
        { WORDS("--userns=auto", "-"), "[--userns][auto][--][-]" },
        { WORDS(""), "[]" },
};

START_TEST(test_round_trip) {
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = { 0 };

        if (!good[_i].expected) {
                ck_assert(!try_words(good[_i].words, &asked, &error));
                return;
        }
        ck_assert_msg(try_words(good[_i].words, &asked, &error), "%s", error ? error->message : "");

        g_autoptr(GPtrArray) words = launch_args_build(asked.args);
        g_autofree char *first = join(words);
        ck_assert_str_eq(first, good[_i].expected);

        g_ptr_array_add(words, NULL);
        g_autoptr(LaunchArgs) again = launch_args_parse((const char *const *) words->pdata, &error);
        ck_assert_msg(again, "%s", error ? error->message : "");

        g_autofree char *second = build(again);
        ck_assert_str_eq(second, first);
        ck_assert_str_eq(again->image, asked.args->image);
        ck_assert_uint_eq(again->command->len, asked.args->command->len);
}
END_TEST

static const struct {
        const char *const *words;
        const char *message;
} bad[] = {
        { (const char *const[]) { NULL }, "the image is missing" },
        { WORDS("--name", "a"), "the image is missing" },
        { WORDS("--"), "the image is missing" },
        { WORDS("--name"), "--name: a value is missing" },
        { WORDS("-e"), "--env: a value is missing" },
        { WORDS("--bogus", "i"), "unknown option '--bogus'" },
        { WORDS("--bogus=1", "i"), "unknown option '--bogus=1'" },
        { WORDS("--nam", "a", "i"), "unknown option '--nam'" },
        { WORDS("--names=a", "i"), "unknown option '--names=a'" },
        { WORDS("-x", "i"), "unknown option '-x'" },
        { WORDS("-dt", "i"), "unknown option '-dt'" }, /* once -d=t */
        { WORDS("--=x", "i"), "unknown option '--=x'" },
        { WORDS("---name", "i"), "unknown option '---name'" },
        { WORDS("--detach=maybe", "i"), "--detach: 'maybe' is neither true nor false" },
        { WORDS("--detach=", "i"), "--detach: '' is neither true nor false" },
        { WORDS("--name", "a/b", "i"), "--name: 'a/b'" },
        { WORDS("--name", "%i", "i"), "--name: '%i'" },
        { WORDS("--net", "bridge", "i"), "--network: network 'bridge'" },
        { WORDS("--network=bridge", "--network=none", "i"), "--network: network 'bridge'" },
        { WORDS("--net=bridge", "--network=none", "i"), "--network: network 'bridge'" },
        { WORDS("--name=../x", "--name=ok", "i"), "--name: '../x'" },
        { WORDS("--name=%i", "--name=ok", "i"), "--name: '%i'" },
        { WORDS("--shm-size=x", "--shm-size=1", "--shm-size=2", "i"), "--shm-size: " },
        { WORDS("--ulimit=host", "--ulimit=host", "i"), "--ulimit: 'host' excludes other ulimits" },
        { WORDS("--uts=ns:/a", "--hostname=b", "i"),
          "--hostname: the host name is that of the namespace which --uts names" },
        { WORDS("--uts=host", "--hostname=b", "i"),
          "--hostname: the host name is that of the namespace which --uts names" },
        { WORDS("--shm-path=/a", "--shm-size=1m", "i"), "--shm-size: --shm-path names a /dev/shm that there is" },
        { WORDS("--ipc=host", "--shm-size=1m", "i"), "--shm-size: --ipc=host means a /dev/shm that there is" },
        { WORDS("--ipc=host", "--sysctl=kernel.msgmax=1", "i"), "--sysctl: with --ipc=host 'kernel.msgmax'" },
        { WORDS("--sysctl=net.a=1", "i"), "--sysctl: with --network=host 'net.a'" },
        { WORDS("--network=pinned:a", "--sysctl=net.a=1", "i"), "--sysctl: 'net.a' is the network's" },
        { WORDS("--pid=host", "--init", "i"), "--init: with --pid=host" },
        { WORDS("--init-path=/x", "i"), "--init-path: no init is asked for" },
        { WORDS("--pid=host", "--userns=auto", "i"), "not supported with a user namespace" },
        { WORDS("--ipc=host", "--uidmap=0:1000:1", "i"), "not supported with a user namespace" },
        { WORDS("--no-hosts", "--add-host=a:1.2.3.4", "i"), "--add-host: with --no-hosts the file" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;
        g_auto(ReadWords) asked = { 0 };

        ck_assert(!try_words(bad[_i].words, &asked, &error));
        ck_assert_ptr_nonnull(error);
        ck_assert_msg(strstr(error->message, bad[_i].message), "%s", error->message);
}
END_TEST

START_TEST(test_set) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LaunchArgs) args = launch_args_new();

        ck_assert(launch_args_set(args, "name", "%i", &error));
        ck_assert(launch_args_set(args, "name", "%N-${X}", &error));
        ck_assert(launch_args_set(args, "env", "A=1", &error));
        ck_assert(launch_args_set(args, "env", "A=2", &error));
        ck_assert(launch_args_set(args, "read-only", "true", &error));
        ck_assert(!launch_args_set(args, "env", "=1", &error));
        expect_error(error, KT_ERROR_USAGE, "--env: ");
        g_clear_error(&error);
        ck_assert(!launch_args_set(args, "network", "bridge", &error));
        expect_error(error, KT_ERROR_UNSUPPORTED, "--network: ");
        ck_assert_ptr_null(args->network);

        g_autofree char *text = build(args);
        ck_assert_str_eq(text, "[--name][%N-${X}][--env][A=1][--env][A=2][--read-only]");
}
END_TEST

/* Checked before systemd has completed the values: what may become right is left to the start. */
static const struct {
        const char *const *words;
        const char *option, *other; /* NULL: nothing is wrong */
} checked[] = {
        { WORDS("--cap-add=kill", "--cap-drop=chown", "--cap-drop=KILL", "i"), "cap-drop", "cap-add" },
        { WORDS("--cap-add=kill", "--cap-drop=%i", "i"), NULL, NULL },
        { WORDS("--userns=auto", "--uidmap=0:%i:1", "i"), "userns", "uidmap" },
        { WORDS("--userns=${MODE}", "--uidmap=0:1:1", "i"), NULL, NULL },
        { WORDS("--uidmap=0:%i:1", "--gidmap=${MAP}", "i"), NULL, NULL },
        { WORDS("--ipc=host", "--uidmap=0:%i:1", "i"), "ipc", "userns" },
        { WORDS("--privileged", "--userns=$MODE", "i"), NULL, NULL },
        { WORDS("--no-healthcheck", "--health-cmd=$CHECK", "i"), NULL, NULL },
        { WORDS("--network=%i", "--dns=1.2.3.4", "i"), NULL, NULL },
        { WORDS("--network=none", "--dns-option=a", "--dns=%i", "i"), "dns-option", "network" },
        { WORDS("--dns=1.2.3.4", "--dns-search=.", "--dns-search=a", "i"), "dns-search", "network" },
        { WORDS("--ulimit=host", "--ulimit=%i", "i"), "ulimit", "ulimit" },
        { WORDS("--shm-size=%i", "--ipc=host", "i"), NULL, NULL },
        { WORDS("--env==%i", "--env==1", "i"), "env", NULL },
        { WORDS("--sysctl=net.a=1", "--network=host", "i"), "sysctl", "network" },
        { WORDS("--sysctl=net.a=1", "--network=%i", "i"), NULL, NULL },
        { WORDS("--sysctl=net.a=1", "--network=ns:/n", "i"), NULL, NULL },
        { WORDS("-v/a:/x", "-v/b://x/", "i"), "volume", "volume" },
        { WORDS("-v/a:/x", "--mount=type=bind,src=/a,dst=/x,ro", "i"), "mount", "volume" },
        { WORDS("--tmpfs=/x", "-v/a:/x", "i"), "tmpfs", "volume" },
        { WORDS("-v/a:/x", "--mount=type=bind,src=/a/,dst=/y/../x", "i"), NULL, NULL }, /* the same */
        { WORDS("-v/a:/x:Z", "-v/a:/x", "i"), "volume", "volume" },
        { WORDS("-v/x", "-v/a:/x", "--tmpfs=/y", "-v/y", "i"), NULL, NULL }, /* volumes without names */
        { WORDS("-v/a:/%i", "-v/b:/%i", "-v%h:/x", "-v/b:/x", "i"), NULL, NULL },
        { WORDS("--mount=type=glob,src=/a*,dst=/x", "-v/b:/x", "i"), NULL, NULL },
        { WORDS("--mount=type=artifact,src=a,dst=/x", "-v/b:/x", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "i"), "volume", "userns" },
        { WORDS("-va:/x:idmap=uids=@0-0-1;gids=0-0-1", "--userns=host", "i"), "volume", "userns" },
        { WORDS("-va:/x:idmap=uids=0-0-1;gids=0-0-1", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "--userns=%i", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "--userns=ns:/u", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "--uidmap=%i", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "--owner=%i", "i"), NULL, NULL },
        { WORDS("-v/a:/x:idmap", "--dynamic-user", "i"), NULL, NULL },
        { WORDS("--user=5000", "--uidmap=0:1:9", "i"), "user", "uidmap" },
        { WORDS("--user=a:5000", "--gidmap=0:1:9", "i"), "user", "gidmap" },
        { WORDS("--user=8:8", "--group-add=9", "--uidmap=0:1:9", "i"), "group-add", "uidmap" },
        { WORDS("--user=8:8", "--group-add=8,a", "--uidmap=0:1:5", "--uidmap=5:9:4", "i"), NULL, NULL },
        { WORDS("--user=8:5000", "--uidmap=0:1:9", "--gidmap=%i", "i"), NULL, NULL },
        { WORDS("--user=5000", "--uidmap=0:1:9", "--subuidname=a", "i"), NULL, NULL },
        { WORDS("--user=%i", "--uidmap=0:1:9", "i"), NULL, NULL },
        { WORDS("--user=5000", "--userns=auto:size=99", "i"), "user", "userns" },
        { WORDS("--user=5000", "--userns=auto:size=99,uidmapping=5000:0:1", "i"), NULL, NULL },
        { WORDS("--user=5000", "--userns=auto", "i"), NULL, NULL },
        { WORDS("-v/a:/etc", "--add-host=a:1.2.3.4", "i"), "volume", "add-host" },
        { WORDS("--mount=type=image,src=a,dst=/etc/resolv.conf", "--dns-search=a", "i"), "mount", "dns" },
        { WORDS("-v/a:/etc/localtime", "--tz=local", "--rootfs", "/r"), "volume", "tz" },
        { WORDS("-v/a:/etc", "--tz=local", "--rootfs", "/r"), NULL, NULL },
        { WORDS("-v/a:/etc", "--dns=none", "--tmpfs=/etc", "i"), "tmpfs", "volume" },
        { WORDS("-v/etc", "--tmpfs=/etc", "-v/a:/etc/x", "--add-host=a:1.2.3.4", "i"), NULL, NULL },
        { WORDS("-v/a:/%i", "--add-host=a:1.2.3.4", "i"), NULL, NULL },
        { WORDS("--secret=a", "-v/a:/run/secrets/a", "i"), "volume", "secret" },
        { WORDS("--secret=a", "-va:/b:rshared", "i"), "volume", "secret" },
        { WORDS("--secret=a,type=env", "-va:/b:rshared", "i"), NULL, NULL },
        { WORDS("--secret=a", "--mount=type=tmpfs,dst=/b,rshared", "-va:/run/secrets", "i"), NULL, NULL },
};

START_TEST(test_check) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LaunchArgs) args = launch_args_parse(checked[_i].words, &error);
        LaunchConflict conflict;

        ck_assert_ptr_nonnull(args);
        ck_assert_int_eq(launch_args_check(args, false, &conflict, &error), !checked[_i].option);
        ck_assert_pstr_eq(conflict.option, checked[_i].option);
        ck_assert_pstr_eq(conflict.other, checked[_i].other);
        ck_assert(!error || g_str_has_prefix(error->message + 2, conflict.option));
}
END_TEST

/* All of a user's containers have a user namespace, her manager's. */
START_TEST(test_check_of_user) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LaunchArgs) args = launch_args_parse(WORDS("-v/a:/x:idmap", "i"), &error);
        LaunchConflict conflict;

        ck_assert_ptr_nonnull(args);
        ck_assert(launch_args_check(args, true, &conflict, &error));
        ck_assert_ptr_null(conflict.option);
        ck_assert(!launch_args_check(args, false, &conflict, &error));
        ck_assert_str_eq(conflict.value, "/a:/x:idmap");
}
END_TEST

START_TEST(test_parse_options) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LaunchArgs) args = launch_args_new();

        ck_assert(launch_args_parse_options(args, WORDS("--ulimit=%i", "-v", "/a:/b", "--read-only"), &error));
        ck_assert(!launch_args_parse_options(args, WORDS("--read-only", "image"), &error));
        expect_error(error, KT_ERROR_USAGE, "'image' is not an option");
        g_clear_error(&error);
        ck_assert(!launch_args_parse_options(args, WORDS("--"), &error));
        expect_error(error, KT_ERROR_USAGE, "'--' is not an option");
        g_clear_error(&error);
        ck_assert(!launch_args_parse_options(args, WORDS("--storage"), &error));
        expect_error(error, KT_ERROR_USAGE, "unknown option '--storage'");

        g_autofree char *text = build(args);
        ck_assert_str_eq(text, "[--read-only][--volume][/a:/b][--ulimit][%i]");
}
END_TEST

/* Every option that can be written is in the help, and nothing else is. */
START_TEST(test_help) {
        g_autofree char *help = launch_args_help();
        g_auto(GStrv) lines = g_strsplit(help, "\n", -1);

        ck_assert_uint_gt(g_strv_length(lines), 30);
        for (size_t i = 0; lines[i + 1]; i++) {
                const char *dashes = strstr(lines[i], "--");

                ck_assert_msg(dashes, "%s", lines[i]);

                g_autofree char *option = g_strndup(dashes, strcspn(dashes, " "));
                g_autoptr(GError) error = NULL;
                g_autoptr(LaunchArgs) args = launch_args_new();

                launch_args_parse_options(args, WORDS(option, "x"), &error);
                ck_assert_msg(!error || !strstr(error->message, "unknown option"), "%s", option);
        }
}
END_TEST

TEST_MAIN("launch-args", {
        tcase_add_loop_test(tcase, test_round_trip, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_check, 0, G_N_ELEMENTS(checked));
        tcase_add_test(tcase, test_check_of_user);
        tcase_add_test(tcase, test_set);
        tcase_add_test(tcase, test_parse_options);
        tcase_add_test(tcase, test_help);
})
