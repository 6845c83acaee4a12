/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/value/id-map.h"
#include "tests/unit/base/parse-tests.h"

/* Whole command lines: what is said together counts. */
static const GoodValue good[] = {
        { "--userns=host", "0 - size 0 keep 0:0 subids - -" },
        { "--userns=", "0 - size 0 keep 0:0 subids - -" },
        { "--userns=auto", "1 - size 0 keep 0:0 subids - -" },
        { "--userns=auto:size=5000", "1 - size 5000 keep 0:0 subids - -" },
        { "--userns=auto:uidmapping=0:100000:1,size=2000,gidmapping=5:5:1",
          "1 - size 2000 keep 0:0 subids - - uids 0 100000 1 gids 5 5 1" },
        { "--userns=keep-id", "2 - size 0 keep 0:0 subids - -" },
        { "--userns=keep-id:uid=5,gid=7", "2 - size 0 keep 5:7 subids - -" },
        { "--userns=ns:/run/x", "3 /run/x size 0 keep 0:0 subids - -" },
        { "--userns=host --userns=auto", "1 - size 0 keep 0:0 subids - -" },
        { "--uidmap=0:1:2", "4 - size 0 keep 0:0 subids - - uids 0 1 2 gids 0 1 2" },
        { "--gidmap=0:1:2", "4 - size 0 keep 0:0 subids - - uids 0 1 2 gids 0 1 2" },
        { "--uidmap=0:1:2 --gidmap=g0:9:3", "4 - size 0 keep 0:0 subids - - uids 0 1 2 gids 0 9 3" },
        { "--subuidname=alice", "4 - size 0 keep 0:0 subids alice alice uids gids" },
        { "--subgidname=bob --uidmap=900000:1",
          "4 - size 0 keep 0:0 subids bob bob uids 900000 1 1 gids 900000 1 1" },
        { "--owner=alice", "5 - size 0 keep 0:0 subids - -" },
        { "--owner=alice:video --userns=host", "5 - size 0 keep 0:0 subids - -" },
        { "--userns=keep-id --owner=1000:1000", "2 - size 0 keep 4294967295:4294967295 subids - -" },
        { "--owner=1000 --userns=keep-id:uid=5", "2 - size 0 keep 5:4294967295 subids - -" },
        { "--dynamic-user", "6 - size 0 keep 0:0 subids - -" },
        { "--dynamic-user --userns=host --volume=/a:/a:idmap --volume=v:/v:U --volume=/b:/b:ro --volume=/c",
          "6 - size 0 keep 0:0 subids - -" },
        { "--userns=nomap", "7 - size 0 keep 0:0 subids - -" },
        { "--userns= --uidmap=0:1:2", "4 - size 0 keep 0:0 subids - - uids 0 1 2 gids 0 1 2" },
};

static const BadValue bad[] = {
        { "--userns=private", KT_ERROR_USAGE, "use auto" },
        { "--userns=container:x", KT_ERROR_UNSUPPORTED, "ns:PATH" },
        { "--userns=1000", KT_ERROR_USAGE, "there is no user namespace '1000'" },
        { "--userns=automatic", KT_ERROR_USAGE, "there is no user namespace" },
        { "--userns=ns:x", KT_ERROR_USAGE, "absolute path" },
        { "--userns=auto:foo=1", KT_ERROR_USAGE, "size=, uidmapping= and gidmapping=" },
        { "--userns=auto:size=x", KT_ERROR_USAGE, "no number" },
        { "--userns=auto:uidmapping=+0:1:1", KT_ERROR_USAGE, "CONTAINER-ID" },
        { "--userns=keep-id:size=1", KT_ERROR_USAGE, "uid= and gid=" },
        { "--userns=keep-id:uid=-1", KT_ERROR_USAGE, "no number" },
        { "--userns=auto --uidmap=0:1:2", KT_ERROR_USAGE, "excludes" },
        { "--userns=host --subuidname=alice", KT_ERROR_USAGE, "excludes" },
        { "--subuidname=a:b", KT_ERROR_USAGE, "no name of a user" },
        { "--owner=", KT_ERROR_USAGE, "a user is missing" },
        { "--owner=:1", KT_ERROR_USAGE, "a user is missing" },
        { "--owner=alice --userns=auto", KT_ERROR_UNSUPPORTED, "has that user's ids" },
        { "--owner=alice --userns=nomap", KT_ERROR_UNSUPPORTED, "has that user's ids" },
        { "--owner=alice --userns=ns:/x", KT_ERROR_UNSUPPORTED, "has that user's ids" },
        { "--owner=alice --uidmap=0:1:1", KT_ERROR_UNSUPPORTED, "has that user's ids" },
        { "--owner=alice --volume=/a:/a:U", KT_ERROR_USAGE, "'U'" },
        { "--owner=alice --mount=type=bind,src=/a,dst=/a,U=true", KT_ERROR_USAGE, "'U'" },
        { "--owner=alice --cidfile=/a", KT_ERROR_USAGE, "writes no file" },
        { "--owner=alice --health-log-destination=/a", KT_ERROR_USAGE, "writes no file" },
        { "--owner=alice --privileged", KT_ERROR_USAGE, "belongs to a user" },
        { "--owner=alice --pid=host", KT_ERROR_USAGE, "user namespace" },
        { "--dynamic-user --userns=auto", KT_ERROR_UNSUPPORTED, "leave out UserNS=" },
        { "--userns=keep-id --dynamic-user", KT_ERROR_UNSUPPORTED, "leave out UserNS=" },
        { "--dynamic-user --uidmap=0:1:1", KT_ERROR_UNSUPPORTED, "leave out UserNS=" },
        { "--dynamic-user --owner=alice", KT_ERROR_UNSUPPORTED, "leave out UserNS=" },
        { "--dynamic-user --volume=/a:/a", KT_ERROR_USAGE, "say U, O or ro" },
        { "--dynamic-user --volume=a:/a:rw", KT_ERROR_USAGE, "say U, O or ro" },
        { "--dynamic-user --volume=a:/a:idmap", KT_ERROR_USAGE, "say U, O or ro" },
        { "--dynamic-user --mount=type=glob,src=/a/*,dst=/a", KT_ERROR_USAGE, "say U, O or ro" },
        { "--dynamic-user --image-volume=bind", KT_ERROR_USAGE, "keeps nothing" },
        { "--dynamic-user --privileged", KT_ERROR_USAGE, "or to nobody" },
        { "--dynamic-user --ipc=host", KT_ERROR_USAGE, "user namespace" },
        { "--dynamic-user --runtime-program=/usr/bin/runc", KT_ERROR_UNSUPPORTED, "only crun" },
        { "--uidmap=x", KT_ERROR_USAGE, "CONTAINER-ID" },
};

static void add_map(GString *text, const char *name, const GArray *map) {
        g_autofree char *format = map ? id_map_format(map) : NULL;

        if (!map)
                return;
        g_strdelimit(format, "\n", ' ');
        g_string_append_printf(text, " %s%s%s", name, map->len > 0 ? " " : "", g_strchomp(format));
}

static char *parse(const char *line, GError **error) {
        g_autofree char *whole = g_strconcat(line, " image", NULL);
        g_auto(GStrv) words = g_strsplit(whole, " ", -1);
        g_autoptr(LaunchArgs) args = launch_args_parse((const char *const *) words, error);
        g_auto(ContainerRequest) request = { 0 };
        GString *text = g_string_new(NULL);

        if (!args || !launch_args_read(args, &request, error)) {
                g_string_free(text, TRUE);
                return NULL;
        }
        g_string_append_printf(text, "%d %s size %u keep %u:%u subids %s %s", (int) request.userns.mode,
                               request.userns.path ?: "-", request.userns.size, request.userns.uid,
                               request.userns.gid, request.userns.subuid ?: "-", request.userns.subgid ?: "-");
        add_map(text, "uids", request.userns.uids);
        add_map(text, "gids", request.userns.gids);
        return g_string_free(text, FALSE);
}

PARSE_TESTS(parse)

TEST_MAIN("userns-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
})
