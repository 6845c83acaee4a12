/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inputs of an image or a file that are as large as they can be: the time that a reader takes grows with the size,
 * and not with its square, and no nesting is deeper than the stack. Both sizes of an input are read in turns, and the
 * shortest of each counts. Prints TAP. */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "generator/files/unit-file.h"
#include "libstart/config/toml.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/payload-args.h"
#include "libstart/relay-client/record.h"
#include "libstart/root/etc-content.h"
#include "libstart/store/image-list.h"
#include "libstart/store/manifest.h"

#define SMALL (16 << 10)
#define FACTOR 32 /* the large size, by the small one */
#define ROUNDS 20 /* at most: the first that is as it should be ends them */

/* A reader that is linear takes FACTOR times as long for the large size, one that is quadratic FACTOR * FACTOR.
 * Between them there must be room for what is linear and slower all the same: the small size has room in the
 * processor's nearest cache, the large one has not. */
#define RATIO_MAX (FACTOR * 6)

typedef void (*Reader)(const char *text, size_t length);

static void read_user(const char *text, size_t length) {
        g_auto(UserIdentity) user = { 0 };

        (void) user_resolve("u", "u:x:1:1::/:\n", text, &user, NULL);
}

static void read_passwd(const char *text, size_t length) {
        g_auto(UserIdentity) user = { 0 };

        (void) user_resolve("nobody", text, NULL, &user, NULL);
}

static void read_config(const char *text, size_t length) {
        image_config_free(image_config_parse(text, NULL));
}

static void read_diff_ids(const char *text, size_t length) {
        TextRange history;
        g_auto(GStrv) diff_ids = config_parse_diff_ids(text, length, &history, NULL);
}

static void read_manifest(const char *text, size_t length) {
        bool is_list;
        g_autofree char *digest = manifest_parse(text, length, "amd64", &is_list, NULL);
}

static void read_images(const char *text, size_t length) {
        g_autoptr(ImageList) list = image_list_parse(text, length, NULL);
}

static void find_image(const char *text, size_t length) {
        g_autoptr(ImageList) list = image_list_find_name(text, length, "n");
}

static void read_entrypoint(const char *text, size_t length) {
        const GPtrArray none = { 0 };
        const ContainerRequest request = { .entrypoint = text, .command = &none };
        ImageConfig image = { 0 };

        g_auto(GStrv) words = payload_args_build(&request, &image, NULL);
}

static void read_environment(const char *text, size_t length) {
        g_autofree char *content = g_strndup(text, length);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        const ImageConfig image = { 0 };
        const UserIdentity user = { .home = (char *) "/" };
        const HostFacts host = { .hostname = "box" };
        char *const files[] = { content, NULL };
        const char *paths[] = { "/file" };
        const GPtrArray none = { 0 }, env_files = { .pdata = (void **) paths, .len = 1 };
        const ContainerRequest request = { .env = &none, .env_files = &env_files };
        const SpecInput input = {
                .request = &request,
                .image = &image,
                .user = &user,
                .host = &host,
                .hostname = "box",
                .env_files = files,
        };

        g_autofree char **environment = environment_build(&input, owned, NULL);
}

static void read_toml(const char *text, size_t length) {
        g_autoptr(TomlValue) top = toml_parse(text, length, "FILE", NULL);
}

static void read_unit(const char *text, size_t length) {
        g_autoptr(UnitFile) file = unit_file_new();

        (void) unit_file_parse(file, "FILE", text, length, NULL);
}

static void read_words(const char *text, size_t length) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);

        (void) words_split(words, text, WORDS_ESCAPED, NULL);
}

static void read_record(const char *text, size_t length) {
        g_auto(RelayRecord) record = { 0 };

        (void) relay_record_parse(text, &record, NULL);
}

static void read_hosts(const char *text, size_t length) {
        g_autofree char *hosts = etc_hosts(NULL, text, "127.0.0.1\ta b\n");
        g_autofree char *resolv_conf = etc_resolv_conf(text, &(DnsRequest) { 0 }, NULL);
}

/* What is repeated may have a number in it, "%u", or eight letters that all have the same sum in a hash that
 * multiplies by 33 and adds, "%h". */
static const struct {
        const char *name;
        Reader read;
        const char *begin, *piece, *end;
        const char *closing; /* of each piece, before the end; or NULL */
} cases[] = {
        { "groups of one user", read_user, "", "g%u:x:%u:u\n", "" },
        { "groups of one number", read_user, "", "g%u:x:7:u\n", "" },
        { "members of a group", read_user, "g:x:7:", "m,", "u\n" },
        { "fields of a group", read_user, "g:x:7:u", ":", "\n" },
        { "empty lines of group", read_user, "", "\n", "" },
        { "users", read_passwd, "", "a%u:x:%u:1::/:\n", "" },
        { "fields of a user", read_passwd, "", ":", "" },
        { "variables of an image", read_config, "{\"config\":{\"Env\":[", "\"A%u=1\",", "\"B=1\"]}}" },
        { "labels of an image", read_config, "{\"config\":{\"Labels\":{", "\"a%u\":\"\",", "\"b\":\"\"}}}" },
        { "volumes of an image", read_config, "{\"config\":{\"Volumes\":{", "\"/a%u\":{},", "\"/b\":{}}}}" },
        { "unknown keys of an image", read_config, "{", "\"a%u\":1,", "\"b\":1}" },
        { "one key of an image", read_config, "{", "\"a\":1,", "\"b\":1}" },
        { "keys of one hash in an object", read_manifest, "{", "\"%h\":1,", "\"b\":1}" },
        { "objects of an array", read_config, "{\"a\":[", "{\"b\":1,\"c\":2},", "1]}" },
        { "arrays inside each other in a config", read_config, "{\"a\":", "[", "" },
        { "closed arrays inside each other in a config", read_config, "{\"config\":{\"Cmd\":", "[", "}}", "]" },
        { "closed objects inside each other in a config", read_config, "{\"b\":", "{\"a\":", "1}", "}" },
        { "layers", read_diff_ids, "{\"rootfs\":{\"diff_ids\":[",
          "\"sha256:0000000000000000000000000000000000000000000000000000000000000000\",", "\"\"]}}" },
        { "history", read_diff_ids, "{\"history\":[", "{\"a\":%u},", "0]}" },
        { "instances of a list", read_manifest, "{\"manifests\":[", "{\"platform\":{\"os\":\"a%u\"}},", "{}]}" },
        { "arrays inside each other in a manifest", read_manifest, "", "[", "" },
        { "a long key in a manifest", read_manifest, "{\"", "a", "\":{\"b\":[1,2]}}" },
        { "images", read_images, "[", "{\"id\":\"%u\",\"names\":[\"a\"]},", "{}]" },
        { "names of an image", read_images, "[{\"id\":\"1\",\"names\":[", "\"%u\",", "\"n\"]}]" },
        { "earlier names of an image", find_image, "[{\"id\":\"1\",\"names-history\":[", "\"n\",", "\"n\"]}]" },
        { "braces in an image", find_image, "[{\"id\":\"1\",\"x\":[", "{},", "\"n\"]}]" },
        { "words of an entrypoint", read_entrypoint, "[", "\"a\",", "\"b\"]" },
        { "arrays inside each other in an entrypoint", read_entrypoint, "", "[", "", "]" },
        { "variables of a file", read_environment, "", "A%u=1\n", "" },
        { "variables of one name", read_environment, "", "A=%u\n", "" },
        { "variables of one hash", read_environment, "", "%h=1\n", "" },
        { "names in a file", read_environment, "", "A%u\n", "" },
        { "keys of a table", read_toml, "", "a%u = 1\n", "" },
        { "tables", read_toml, "", "[a%u]\n", "" },
        { "elements of an array", read_toml, "a = [", "\"\", ", "]" },
        { "parts of a key", read_toml, "", "a.", "b = 1" },
        { "arrays inside each other in TOML", read_toml, "a = ", "[", "", "]" },
        { "arrays of tables", read_toml, "", "[[a.b]]\n", "" },
        { "lines of a unit", read_unit, "[A]\n", "a%u=1\n", "" },
        { "lines that go on", read_unit, "[A]\na=", "b \\\n", "" },
        { "words", read_words, "", "a ", "" },
        { "characters of a word", read_words, "", "\\x41", "" },
        { "lines of a record", read_record, "", "UNIT=a\n", "" },
        { "inodes of a record", read_record, "INODES=", "1 ", "" },
        { "lines of hosts", read_hosts, "", "192.0.2.1 a%u\n", "" },
        { "names of a host", read_hosts, "192.0.2.1", " a%u", "" },
};

/* "Ez" and "FY" have the same sum, so that all words of them of one length have. */
static void append_colliding(GString *text, guint number) {
        for (guint bit = 0; bit < 16; bit++)
                g_string_append(text, number >> bit & 1 ? "Ez" : "FY");
}

static void append_piece(GString *text, const char *piece, guint number) {
        for (; *piece; piece++)
                if (piece[0] == '%' && piece[1] == 'h') {
                        append_colliding(text, number);
                        piece++;
                } else if (piece[0] == '%' && piece[1] == 'u') {
                        g_string_append_printf(text, "%u", number);
                        piece++;
                } else
                        g_string_append_c(text, *piece);
}

static GString *make_input(size_t i, gsize size) {
        GString *text = g_string_new(cases[i].begin);

        guint n = 0;

        for (; text->len < size; n++)
                append_piece(text, cases[i].piece, n);
        while (cases[i].closing && n-- > 0)
                g_string_append(text, cases[i].closing);
        return g_string_append(text, cases[i].end);
}

static gint64 measure(size_t i, const GString *text) {
        struct timespec before, after;

        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
        cases[i].read(text->str, text->len);
        (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
        return (after.tv_sec - before.tv_sec) * (gint64) 1000000000 + after.tv_nsec - before.tv_nsec;
}

/* What is quick even so is not worth asking what it grows by. */
static bool grows_with_size(size_t i, gint64 *ret_small, gint64 *ret_large) {
        g_autoptr(GString) small = make_input(i, SMALL), large = make_input(i, (gsize) SMALL * FACTOR);

        *ret_small = *ret_large = G_MAXINT64;
        for (int round = 0; round < ROUNDS; round++) {
                *ret_small = MIN(*ret_small, measure(i, small));
                *ret_large = MIN(*ret_large, measure(i, large));
                if (*ret_large <= *ret_small * RATIO_MAX || *ret_large < 1000000)
                        return true;
        }
        return false;
}

int main(void) {
        /* Memory that one round has given back is there for the next: the kernel's part of it is not the reader's,
         * and grows as it likes. */
        (void) mallopt(M_MMAP_MAX, 0);
        (void) mallopt(M_TRIM_THRESHOLD, INT_MAX);

        printf("1..%zu\n", G_N_ELEMENTS(cases));
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                gint64 small, large;
                bool ok = grows_with_size(i, &small, &large);

                printf("%sok %zu - %s # %.1f ms, of %d times as much %.1f ms\n", ok ? "" : "not ", i + 1,
                       cases[i].name, (double) small / 1e6, FACTOR, (double) large / 1e6);
                (void) fflush(stdout);
        }
        return 0;
}
