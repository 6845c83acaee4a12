/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/mount-request.h"
#include "tests/unit/base/expect-error.h"

/* "TYPE SOURCE DESTINATION OPTIONS[ shared| private]", so that a table can hold it. */
static char *describe(const MountRequest *request) {
        static const char *const types[] = {
                "bind", "tmpfs", "volume", "image", "glob", "ramfs", "devpts", "artifact"
        };
        GString *text = g_string_new(types[request->type]);

        g_string_append_printf(text, " %s %s ", request->source ?: "-", request->destination);
        for (guint i = 0; i < request->options->len; i++)
                g_string_append_printf(text, "%s%s", i ? "," : "", (char *) request->options->pdata[i]);
        g_string_append(text, request->relabel == RELABEL_SHARED  ? " shared" :
                              request->relabel == RELABEL_PRIVATE ? " private" :
                                                                    "");
        g_string_append(text, request->overlay ? " overlay" : "");
        g_string_append(text, request->chown ? " chown" : "");
        g_string_append(text, request->no_copy ? " nocopy" : "");
        if (request->subpath)
                g_string_append_printf(text, " in %s", request->subpath);
        if (request->title || request->digest)
                g_string_append_printf(text, " %s", request->title ?: request->digest);
        if (request->file_name)
                g_string_append_printf(text, " as %s", request->file_name);
        return g_string_free(text, FALSE);
}

typedef MountRequest *(*Parse)(const char *value, GError **error);

/* The options are those that Podman 5.4.2 writes for the same value, in its order. */
static const struct {
        Parse parse;
        const char *value, *expected;
} good[] = {
        { mount_request_parse_volume, "/src:/dst", "bind /src /dst rw,rprivate,rbind" },
        { mount_request_parse_volume, "/src:/dst:ro", "bind /src /dst ro,rprivate,rbind" },
        { mount_request_parse_volume, "/src:/dst:ro,nocopy,bind", "bind /src /dst ro,bind,private nocopy" },
        { mount_request_parse_volume, "/src:/dst:nosuid,z", "bind /src /dst nosuid,rw,rprivate,rbind shared" },
        { mount_request_parse_volume, "/src:/dst:Z,exec", "bind /src /dst exec,rw,rprivate,rbind private" },
        { mount_request_parse_volume, "/src:/dst:cached", "bind /src /dst rw,rprivate,rbind" },
        { mount_request_parse_volume, "/s:/d:rshared,nodev,noexec,nosuid,rw,rbind",
          "bind /s /d rshared,nodev,noexec,nosuid,rw,rbind" },
        { mount_request_parse_volume, "//src/./a/../b/:/x//y/..", "bind /src/b /x rw,rprivate,rbind" },
        { mount_request_parse_volume, "/a b:/c d", "bind /a b /c d rw,rprivate,rbind" },
        { mount_request_parse_volume, "/:/host:ro,rslave", "bind / /host ro,rslave,rbind" },
        { mount_request_parse_tmpfs, "/t", "tmpfs - /t rw,rprivate,nosuid,nodev,tmpcopyup" },
        { mount_request_parse_tmpfs, "/t:size=1k,noexec",
          "tmpfs - /t size=1k,noexec,rw,rprivate,nosuid,nodev,tmpcopyup" },
        { mount_request_parse_tmpfs, "/t:suid,dev,exec", "tmpfs - /t suid,dev,exec,rw,rprivate,tmpcopyup" },
        { mount_request_parse_tmpfs, "/t:ro", "tmpfs - /t ro,rprivate,nosuid,nodev,tmpcopyup" },
        { mount_request_parse_tmpfs, "/t:U", "tmpfs - /t rw,rprivate,nosuid,nodev,tmpcopyup chown" },
        { mount_request_parse_tmpfs, "/t:notmpcopyup,mode=1777,size=50%",
          "tmpfs - /t mode=1777,size=50%,rw,rprivate,nosuid,nodev" },
        { mount_request_parse_mount, "type=bind,src=/s,dst=/d,ro,bind-propagation=rslave",
          "bind /s /d ro,rslave,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,destination=/d,rw=false,nosuid",
          "bind /s /d ro,nosuid,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,target=/d,readonly=TRUE", "bind /s /d ro,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,target=/d,ro=false", "bind /s /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,target=/d,rw", "bind /s /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,target=/d,rw=true", "bind /s /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,source=/s,target=/d,readonly=false", "bind /s /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "dst=/d,type=bind", "bind /d /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,src=/s,dst=/d,bind-nonrecursive,relabel=shared",
          "bind /s /d bind,rw,private shared" },
        { mount_request_parse_mount, "type=bind,\"src=/a,b\",dst=/d", "bind /a,b /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,\"src=/a\"\"b\",dst=/d", "bind /a\"b /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=bind,src=/s=t,dst=/d,U=false,consistency=cached",
          "bind /s=t /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=tmpfs,dst=/t,tmpfs-size=1m,tmpfs-mode=1777,notmpcopyup",
          "tmpfs - /t size=1m,mode=1777,rw,rprivate,nosuid,nodev" },
        { mount_request_parse_mount, "type=tmpfs,dst=/t,noswap",
          "tmpfs - /t noswap,rw,rprivate,nosuid,nodev,tmpcopyup" },
        { mount_request_parse_volume, "/src:/dst:U", "bind /src /dst rw,rprivate,rbind chown" },
        { mount_request_parse_volume, "/src:/dst:O", "bind /src /dst rw,rprivate,rbind overlay" },
        { mount_request_parse_volume, "/dst", "volume - /dst rw,rprivate,rbind,nosuid,nodev" },
        { mount_request_parse_volume, "v:/dst", "volume v /dst rw,rprivate,rbind,nosuid,nodev" },
        { mount_request_parse_volume, "9_a.b-c:/dst:ro,suid,dev,nocopy,U",
          "volume 9_a.b-c /dst ro,suid,dev,rprivate,rbind chown nocopy" },
        { mount_request_parse_volume, "v:/dst:copy,O", "volume v /dst rw,rprivate,rbind,nosuid,nodev overlay" },
        { mount_request_parse_mount, "source=v,dst=/d", "volume v /d rw,rprivate,rbind,nosuid,nodev" },
        { mount_request_parse_mount, "type=volume,dst=/d,U", "volume - /d rw,rprivate,rbind,nosuid,nodev chown" },
        { mount_request_parse_mount, "type=volume,src=v,dst=/d,subpath=/a/b,U=true",
          "volume v /d rw,rprivate,rbind,nosuid,nodev chown in /a/b" },
        { mount_request_parse_mount, "type=image,src=localhost/i:1,dst=/d", "image localhost/i:1 /d ro,nodev" },
        { mount_request_parse_mount, "type=artifact,src=localhost/i:1,dst=/d",
          "artifact localhost/i:1 /d ro,nosuid,nodev,bind" },
        { mount_request_parse_mount, "type=artifact,src=i,target=/d,digest=sha256:a,name=n,ro=true",
          "artifact i /d ro,nosuid,nodev,bind sha256:a as n" },
        { mount_request_parse_mount, "type=artifact,src=i,target=/d,title=t",
          "artifact i /d ro,nosuid,nodev,bind t" },
        { mount_request_parse_mount, "type=image,src=i,dst=/d,rw=false,subpath=x", "image i /d ro,nodev in x" },
        { mount_request_parse_mount, "type=image,src=i,dst=/d,subpath=x,readwrite=false",
          "image i /d ro,nodev in x" },
        { mount_request_parse_mount, "src=v,dst=/d,volume-subpath=a/b",
          "volume v /d rw,rprivate,rbind,nosuid,nodev in a/b" },
        { mount_request_parse_mount, "type=bind,src=/s,dst=/d,U=False", "bind /s /d rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=glob,src=/usr/lib/x*", "glob /usr/lib/x* /usr/lib rw,rprivate,rbind" },
        { mount_request_parse_mount, "type=glob,src=/etc/./h*,dst=/d,ro", "glob /etc/h* /d ro,rprivate,rbind" },
        { mount_request_parse_mount, "type=ramfs,dst=/d", "ramfs - /d " },
        { mount_request_parse_mount, "type=devpts,dst=/d,uid=1,gid=5,mode=620,max=9",
          "devpts - /d uid=1,gid=5,mode=620,max=9" },
};

START_TEST(test_good) {
        g_autoptr(GError) error = NULL;
        g_autoptr(MountRequest) request = good[_i].parse(good[_i].value, &error);

        ck_assert_msg(request, "%s: %s", good[_i].value, error ? error->message : "");

        g_autofree char *text = describe(request);
        ck_assert_str_eq(text, good[_i].expected);
}
END_TEST

static const struct {
        Parse parse;
        const char *value;
        ErrorCode code;
        const char *message;
} bad[] = {
        { mount_request_parse_volume, "", KT_ERROR_USAGE, "SOURCE:DESTINATION" },
        { mount_request_parse_volume, "a", KT_ERROR_USAGE, "'a' is not an absolute path" },
        { mount_request_parse_volume, "-data:/a", KT_ERROR_USAGE, "no name of a volume" },
        { mount_request_parse_volume, "a/b:/a", KT_ERROR_USAGE, "no name of a volume" },
        { mount_request_parse_volume, "a@b:/a", KT_ERROR_USAGE, "no name of a volume" },
        { mount_request_parse_volume, "v:/a:O,U", KT_ERROR_UNSUPPORTED, "neither 'U' nor 'ro'" },
        { mount_request_parse_volume, "/v:/a:ro,O", KT_ERROR_UNSUPPORTED, "neither 'U' nor 'ro'" },
        { mount_request_parse_volume, "/v:/a:O,rslave", KT_ERROR_UNSUPPORTED, "'O' goes with no propagation" },
        { mount_request_parse_mount, "type=volume,src=v,dst=/a,subpath=x,bind-propagation=rshared",
          KT_ERROR_UNSUPPORTED, "'subpath' goes with no propagation" },
        { mount_request_parse_volume, "v:/a:copy,nocopy", KT_ERROR_USAGE, "exclude each other" },
        { mount_request_parse_volume, "./data:/a", KT_ERROR_USAGE, "'./data' is relative" },
        { mount_request_parse_volume, ":/a", KT_ERROR_USAGE, "source" },
        { mount_request_parse_volume, "/a:", KT_ERROR_USAGE, "destination: the path is empty" },
        { mount_request_parse_volume, "/a:b", KT_ERROR_USAGE, "'b' is not an absolute path" },
        { mount_request_parse_volume, "/a:/", KT_ERROR_USAGE, "'/'" },
        { mount_request_parse_volume, "/a:/b/..", KT_ERROR_USAGE, "'/'" },
        { mount_request_parse_volume, "/a:/b:ro:rw", KT_ERROR_USAGE, "SOURCE:DESTINATION" },
        { mount_request_parse_volume, "/a:/b:", KT_ERROR_USAGE, "missing" },
        { mount_request_parse_volume, "/a:/b:ro,", KT_ERROR_USAGE, "unknown mount option ''" },
        { mount_request_parse_volume, "/a:/b:ro,rw", KT_ERROR_USAGE, "'ro' and 'rw' exclude each other" },
        { mount_request_parse_volume, "/a:/b:ro,ro", KT_ERROR_USAGE, "'ro' and 'ro' exclude each other" },
        { mount_request_parse_volume, "/a:/b:z,Z", KT_ERROR_USAGE, "'z' and 'Z' exclude each other" },
        { mount_request_parse_volume, "/a:/b:bogus", KT_ERROR_USAGE, "unknown mount option 'bogus'" },
        { mount_request_parse_volume, "/a:/b:ro=1", KT_ERROR_USAGE, "takes no value" },
        { mount_request_parse_volume, "/a:/b:size=1k", KT_ERROR_USAGE, "'size' is not for a bind mount" },
        { mount_request_parse_volume, "/a:/b:U,U", KT_ERROR_USAGE, "exclude each other" },
        { mount_request_parse_volume, "/a:/b:subpath=x", KT_ERROR_USAGE, "not for a bind mount" },
        { mount_request_parse_volume, "/a:/b:idmap=uids=0-1-10", KT_ERROR_USAGE, "idmap=uids=MAP;gids=MAP" },
        { mount_request_parse_volume, "/a:/b:idmap=uids=0-1-10;gids=0-1", KT_ERROR_USAGE, "FILE-ID-HOST-ID-COUNT" },
        { mount_request_parse_volume, "/a:/b:idmap=uids=0-1-10#5-90-1;gids=0-1-1", KT_ERROR_USAGE, "same ids" },
        { mount_request_parse_volume, "/a:/b:idmap,U", KT_ERROR_UNSUPPORTED, "none of 'O', 'U'" },
        { mount_request_parse_volume, "/a:/b:O,idmap", KT_ERROR_UNSUPPORTED, "none of 'O', 'U'" },
        { mount_request_parse_volume, "/a:/b:idmap,rshared", KT_ERROR_UNSUPPORTED, "shared or slave" },
        { mount_request_parse_tmpfs, "/b:idmap", KT_ERROR_USAGE, "is not for a tmpfs" },
        { mount_request_parse_volume, "/a:/b:copy", KT_ERROR_USAGE, "not for a bind mount" },
        { mount_request_parse_volume, "/a:/b:upperdir=/x", KT_ERROR_UNSUPPORTED, ".mount unit" },
        { mount_request_parse_tmpfs, "t", KT_ERROR_USAGE, "'t' is not an absolute path" },
        { mount_request_parse_tmpfs, "", KT_ERROR_USAGE, "DESTINATION" },
        { mount_request_parse_tmpfs, "/t:ro:rw", KT_ERROR_USAGE, "DESTINATION" },
        { mount_request_parse_tmpfs, "/t:rbind", KT_ERROR_USAGE, "'rbind' is not for a tmpfs" },
        { mount_request_parse_tmpfs, "/t:size", KT_ERROR_USAGE, "'size' needs a value" },
        { mount_request_parse_tmpfs, "/t:size=", KT_ERROR_USAGE, "no size" },
        { mount_request_parse_tmpfs, "/t:size=1kb", KT_ERROR_USAGE, "'1kb'" },
        { mount_request_parse_tmpfs, "/t:size=k", KT_ERROR_USAGE, "'k'" },
        { mount_request_parse_tmpfs, "/t:mode=789", KT_ERROR_USAGE, "'789'" },
        { mount_request_parse_tmpfs, "/t:mode=", KT_ERROR_USAGE, "octal" },
        { mount_request_parse_tmpfs, "/t:mode=177777", KT_ERROR_USAGE, "octal" },
        { mount_request_parse_tmpfs, "/t:uid=7", KT_ERROR_USAGE, "'uid' is not for a tmpfs: U gives it" },
        { mount_request_parse_tmpfs, "/t:tmpcopyup,notmpcopyup", KT_ERROR_USAGE, "exclude each other" },
        { mount_request_parse_mount, "source=/a,dst=/b", KT_ERROR_USAGE, "type=bind" },
        { mount_request_parse_mount, "type=volume,dst=/b,subpath=x", KT_ERROR_UNSUPPORTED, "without a name" },
        { mount_request_parse_mount, "type=volume,src=v,dst=/b,subpath=", KT_ERROR_USAGE, "is empty" },
        { mount_request_parse_mount, "type=volume,dst=/b,ro", KT_ERROR_UNSUPPORTED, "'ro' is not for" },
        { mount_request_parse_mount, "type=image,src=i,dst=/b,dev", KT_ERROR_USAGE, "'dev' is not for" },
        { mount_request_parse_mount, "type=image,dst=/b", KT_ERROR_USAGE, "'source=' is missing" },
        { mount_request_parse_mount, "type=image,src=i,dst=/b,rw=true", KT_ERROR_USAGE,
          "'rw' is not for a mounted image" },
        { mount_request_parse_mount, "type=glob,src=a*,dst=/b", KT_ERROR_USAGE, "absolute" },
        { mount_request_parse_mount, "type=glob,src=/a*/b", KT_ERROR_USAGE, "in the last name only" },
        { mount_request_parse_mount, "type=glob,src=/a*", KT_ERROR_USAGE, "needs a 'destination='" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,U=no", KT_ERROR_USAGE, "neither true nor false" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,readwrite=false", KT_ERROR_USAGE, "for type=image" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,volume-subpath=x", KT_ERROR_USAGE, "for type=volume" },
        { mount_request_parse_mount, "type=image,src=i,dst=/b,readwrite=true", KT_ERROR_USAGE,
          "'rw' is not for a mounted image" },
        { mount_request_parse_mount, "type=ramfs,src=a,dst=/b", KT_ERROR_USAGE, "has no 'src'" },
        { mount_request_parse_mount, "type=devpts,dst=/b,gid=tty", KT_ERROR_USAGE, "'tty' is no number" },
        { mount_request_parse_mount, "type=disk,src=a,dst=/b", KT_ERROR_UNSUPPORTED, "'disk'" },
        { mount_request_parse_mount, "type=artifact,dst=/b", KT_ERROR_USAGE, "'source=' is missing" },
        { mount_request_parse_mount, "type=artifact,src=,dst=/b", KT_ERROR_USAGE, "name of the image or artifact" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,rw", KT_ERROR_USAGE, "not for a mounted artifact" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,z", KT_ERROR_USAGE, "not for a mounted artifact" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,suid", KT_ERROR_USAGE,
          "not for a mounted artifact" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,subpath=c", KT_ERROR_USAGE,
          "not for a mounted artifact" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,title=a,digest=b", KT_ERROR_USAGE, "exclude" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,title=a,title=b", KT_ERROR_USAGE, "twice" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,title=../a", KT_ERROR_USAGE, "names no file" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,name=..", KT_ERROR_USAGE, "names no file" },
        { mount_request_parse_mount, "type=artifact,src=a,dst=/b,name=", KT_ERROR_USAGE, "names no file" },
        { mount_request_parse_mount, "type=image,src=a,dst=/b,title=a", KT_ERROR_USAGE, "for type=artifact" },
        { mount_request_parse_mount, "type=bind,type=bind,dst=/b", KT_ERROR_USAGE, "twice" },
        { mount_request_parse_mount, "type=bind,src=/a", KT_ERROR_USAGE, "'destination='" },
        { mount_request_parse_mount, "type=bind,src=/a,source=/a,dst=/b", KT_ERROR_USAGE, "source is given twice" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,target=/b", KT_ERROR_USAGE,
          "destination is given twice" },
        { mount_request_parse_mount, "type=bind,src,dst=/b", KT_ERROR_USAGE, "'src' needs a value" },
        { mount_request_parse_mount, "type=bind,src=,dst=/b", KT_ERROR_USAGE, "source: the path is empty" },
        { mount_request_parse_mount, "type=bind,src=a,dst=/b", KT_ERROR_USAGE,
          "source: 'a' is not an absolute path" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,ro=maybe", KT_ERROR_USAGE, "'ro=maybe'" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,ro,rw", KT_ERROR_USAGE, "exclude" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,bind-propagation=up", KT_ERROR_USAGE,
          "'bind-propagation=up'" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,tmpfs-size=1", KT_ERROR_USAGE, "not for a bind mount" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,relabel=me", KT_ERROR_USAGE, "'relabel=me'" },
        { mount_request_parse_mount, "type=bind,src=/a,dst=/b,bind-nonrecursive=false", KT_ERROR_USAGE,
          "only be true" },
        { mount_request_parse_mount, "type=tmpfs,src=/a,dst=/b", KT_ERROR_USAGE,
          "a file system in memory has no 'src'" },
        { mount_request_parse_mount, "type=tmpfs,dst=/b,size=1", KT_ERROR_USAGE, "'tmpfs-size='" },
        { mount_request_parse_mount, "type=tmpfs,dst=/b,bind-propagation=private", KT_ERROR_USAGE,
          "not for a tmpfs" },
        { mount_request_parse_mount, "type=tmpfs,dst=/b,", KT_ERROR_USAGE, "unknown mount option ''" },
        { mount_request_parse_mount, "type=bind,\"src=/a", KT_ERROR_USAGE, "does not end in a quote" },
        { mount_request_parse_mount, "\"", KT_ERROR_USAGE, "does not end in a quote" },
        { mount_request_parse_mount, "\"a\"\"", KT_ERROR_USAGE, "does not end in a quote" },
        { mount_request_parse_mount, "\"a\"b", KT_ERROR_USAGE, "does not end in a quote" },
        { mount_request_parse_mount, "type=bind,src=/a\"b,dst=/c", KT_ERROR_USAGE, "in the middle of a field" },
};

START_TEST(test_bad) {
        g_autoptr(GError) error = NULL;

        ck_assert_ptr_null(bad[_i].parse(bad[_i].value, &error));
        expect_error(error, bad[_i].code, bad[_i].message);
}
END_TEST

static const struct {
        const char *mount, *source, *replaced; /* by /x,y */
} sources[] = {
        { "type=bind,source=/a,destination=/b", "/a", "type=bind,\"source=/x,y\",destination=/b" },
        { "type=bind,src=./a", "./a", "type=bind,\"src=/x,y\"" },
        { "src=x,type=bind", "x", "\"src=/x,y\",type=bind" },
        { "type=bind,\"source=/a,b\",dst=/c", "/a,b", "type=bind,\"source=/x,y\",dst=/c" },
        { "type=bind,\"source=/a\"\"b\"", "/a\"b", "type=bind,\"source=/x,y\"" },
        { ",,source=,", "", ",,\"source=/x,y\"," },
        { "src=1,src=2", "1", "\"src=/x,y\",src=2" },
        /* what expanding a variable may repair */
        { "type=bind,\"source=/a$Q,dst=/b", "/a$Q", NULL },
        { "a\"b,source=/c", "/c", NULL },
        { "type=tmpfs,dst=/b", NULL, NULL },
        { "type=bind,mysource=/a", NULL, NULL },
        { "type=bind,dst=source=/a", NULL, NULL },
        { "", NULL, NULL },
};

START_TEST(test_source) {
        g_autofree char *source = mount_request_find_source(sources[_i].mount), *replaced = NULL;

        ck_assert_pstr_eq(source, sources[_i].source);
        if (!sources[_i].replaced)
                return;
        replaced = mount_request_replace_source(sources[_i].mount, "/x,y");
        ck_assert_str_eq(replaced, sources[_i].replaced);
}
END_TEST

/* Before systemd has expanded it. */
static const struct {
        const char *volume, *source, *destination;
        bool read_only;
} sketches[] = {
        { "/a:/b", "/a", "/b" },
        { "/a:/b:ro", "/a", "/b", true },
        { "%h/a:${WHERE}:z,ro,%i", "%h/a", "${WHERE}", true },
        { "name:/b:rw,ro", "name", "/b" }, /* the start refuses that */
        { "/a:/b:${OPTIONS}", "/a", "/b" },
        { "/a:/b:roo", "/a", "/b" },
        { "/anonymous", NULL, "/anonymous" },
        { "", NULL, "" },
        { ":", "", "" },
};

START_TEST(test_sketch) {
        g_autoptr(MountRequest) request = mount_request_sketch_volume(sketches[_i].volume);

        ck_assert_pstr_eq(request->source, sketches[_i].source);
        ck_assert_str_eq(request->destination, sketches[_i].destination);
        ck_assert_int_eq(mount_request_has_option(request, "ro"), sketches[_i].read_only);
}
END_TEST

/* On one destination: the same once more, or another one. */
static const struct {
        const char *one, *other;
        bool is_same;
} pairs[] = {
        { "/a:/x", "/a:/x/", true },     { "/a:/x", "/x", true }, /* without a name: no mount */
        { "/a:/x", "/b:/x", false },     { "/a:/x", "/a:/x:ro", false },
        { "/a:/x", "/a:/x:O", false }, /* what is written would go to the host */
        { "/a:/x", "/a:/x:U", false },   { "/a:/x", "/a:/x:z", false },
        { "/a:/x:z", "/a:/x:Z", false }, { "/a:/x", "/a:/x:idmap", false },
        { "data:/x", "data:/x", true },  { "data:/x", "data:/x:nocopy", false },
};

START_TEST(test_beside) {
        g_autoptr(GError) error = NULL;
        g_autoptr(MountRequest) one = mount_request_parse_volume(pairs[_i].one, &error),
                                other = mount_request_parse_volume(pairs[_i].other, &error);

        ck_assert_ptr_null(error);
        ck_assert_int_eq(mount_request_check_beside(other, one, &error), pairs[_i].is_same);
        if (!pairs[_i].is_same)
                expect_error(error, KT_ERROR_USAGE, "Two different mounts are to be on '/x'");
}
END_TEST

TEST_MAIN("mount-request", {
        tcase_add_loop_test(tcase, test_good, 0, G_N_ELEMENTS(good));
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad));
        tcase_add_loop_test(tcase, test_source, 0, G_N_ELEMENTS(sources));
        tcase_add_loop_test(tcase, test_sketch, 0, G_N_ELEMENTS(sketches));
        tcase_add_loop_test(tcase, test_beside, 0, G_N_ELEMENTS(pairs));
})
