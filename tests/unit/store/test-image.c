/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/store/image.h"
#include "libstart/store/manifest.h"
#include "tests/unit/store/store-builder.h"
#include "tests/unit/test-main.h"

static StoreBuilder *builder;

static void setup(void) {
        static const char *const stores[] = { "/store", "/usr/extra", "/usr/more", NULL };

        unsetenv("CONTAINERS_STORAGE_CONF");
        unsetenv("CONTAINERS_REGISTRIES_CONF");
        builder = store_builder_new(stores);
}

static void teardown(void) {
        g_clear_pointer(&builder, store_builder_free);
}

/* Is the image of a reference the one that was built, with all that belongs to it? */
static void expect_image(const char *reference, const BuiltImage *expected, const char *name, const char *store,
                         bool writable) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StoreImage) image = store_image_find(builder->root, reference, NULL, &error);

        ck_assert_msg(image, "%s", error ? error->message : "no error set");
        ck_assert_str_eq(image->id, expected->id);
        ck_assert_str_eq(image->config, expected->config);
        ck_assert_str_eq(image->name, name);
        g_autofree char *store_path = g_strconcat(builder->root, store, NULL);
        ck_assert_str_eq(image->store, store_path);
        ck_assert_int_eq(image->writable_store, writable);

        unsigned n = g_strv_length(expected->directories);
        ck_assert_uint_eq(g_strv_length(image->layers), n);
        for (unsigned i = 0; i < n; i++) {
                g_autofree char *layer = g_strconcat(expected->directories[n - 1 - i], "/diff", NULL);
                ck_assert_str_eq(image->layers[i], layer);
        }
}

static void expect_error(const char *reference, int code, const char *message) {
        g_autoptr(GError) error = NULL;
        g_autoptr(StoreImage) image = store_image_find(builder->root, reference, NULL, &error);

        ck_assert_msg(!image, "an image was found, where '%s' was expected", message);
        ck_assert_msg(strstr(error->message, message), "not '%s' but: %s", message, error->message);
        ck_assert_int_eq(error->code, code);
}

START_TEST(test_references) {
        g_autoptr(BuiltImage)
                image = store_builder_add(builder, 0, "\"quay.io/a/b:1\", \"localhost/own:latest\"", "b", 4, 0);
        g_autoptr(BuiltImage) nginx = store_builder_add(builder, 0, "\"docker.io/library/nginx:1\"", "n", 1, 0);
        g_autofree char *by_digest = g_strconcat("quay.io/a/b@", image->digest, NULL);
        g_autofree char *tag_and_digest = g_strconcat("quay.io/a/b:other@", image->digest, NULL);
        g_autofree char *wrong_repository = g_strconcat("quay.io/a/c@", image->digest, NULL);
        g_autofree char *by_id = g_strconcat("sha256:", image->id, NULL);
        g_autofree char *short_id = g_strndup(image->id, 12);

        expect_image("quay.io/a/b:1", image, "quay.io/a/b:1", "/store", true);
        expect_image("own", image, "localhost/own:latest", "/store", true);
        expect_image("localhost/own", image, "localhost/own:latest", "/store", true);
        expect_image(by_digest, image, by_digest, "/store", true);
        expect_image(tag_and_digest, image, by_digest, "/store", true);
        expect_image(image->id, image, image->id, "/store", true);
        expect_image(by_id, image, image->id, "/store", true);
        expect_image(short_id, image, image->id, "/store", true);
        expect_image("nginx:1", nginx, "docker.io/library/nginx:1", "/store", true);
        expect_image("docker.io/nginx:1", nginx, "docker.io/library/nginx:1", "/store", true);

        expect_error("quay.io/a/b", KT_ERROR_NOT_FOUND, "looked for 'quay.io/a/b:latest' in '");
        expect_error("quay.io/a/b:1x", KT_ERROR_NOT_FOUND, "podman pull");
        expect_error("nginx", KT_ERROR_NOT_FOUND, "'localhost/nginx:latest', 'docker.io/library/nginx:latest'");
        expect_error("b:2", KT_ERROR_NOT_FOUND, "' is not there); there is 'quay.io/a/b:1'; get it");
        expect_error("other.example/nginx", KT_ERROR_NOT_FOUND, "; there is 'docker.io/library/nginx:1'; get it");
        expect_error("none", KT_ERROR_NOT_FOUND,
                     "; there is 'quay.io/a/b:1', 'localhost/own:latest', 'docker.io/library/nginx:1'; get it");
        expect_error(wrong_repository, KT_ERROR_NOT_FOUND, "looked for 'quay.io/a/c@sha256:");
        expect_error("ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", KT_ERROR_NOT_FOUND,
                     "looked for 'ffffffff");
        expect_error("UPPER", KT_ERROR_USAGE, "'UPPER' is no image reference");
}
END_TEST

START_TEST(test_short_names) {
        g_autoptr(BuiltImage) alias = store_builder_add(builder, 0, "\"chosen.example/x:latest\"", "a", 1, 0);
        g_autoptr(BuiltImage) docker = store_builder_add(builder, 0, "\"docker.io/library/x:latest\"", "d", 1, 0);
        g_autoptr(BuiltImage) other = store_builder_add(builder, 0, "\"one.example/y:latest\"", "o", 1, 0);

        expect_image("x", docker, "docker.io/library/x:latest", "/store", true);
        store_builder_write(
                builder, "etc/containers/registries.conf",
                "unqualified-search-registries = [\"one.example\"]\n[aliases]\nx = \"chosen.example/x\"\n");
        expect_image("x", alias, "chosen.example/x:latest", "/store", true);
        expect_image("y", other, "one.example/y:latest", "/store", true);
        /* only short names ask for it */
        store_builder_write(builder, "etc/containers/registries.conf", "=");
        expect_image("one.example/y", other, "one.example/y:latest", "/store", true);
        expect_error("y", KT_ERROR_FAILED, "/etc/containers/registries.conf:1: expected a key");
}
END_TEST

START_TEST(test_ambiguous_id) {
        store_builder_add_record(builder, 0,
                                 "{\"id\": \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}");
        store_builder_add_record(builder, 1,
                                 "{\"id\": \"aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\"}");

        expect_error("aaaaaaaaaaaa", KT_ERROR_USAGE, "several images have an id that begins with 'aaaaaaaaaaaa'");
        expect_error("aaaaaaaaaaaaaaaab", KT_ERROR_FAILED, "its file '");
}
END_TEST

START_TEST(test_stores) {
        g_autoptr(BuiltImage) primary = store_builder_add(builder, 0, "\"quay.io/x:1\"", "p", 1, 0);
        g_autoptr(BuiltImage) extra = store_builder_add(builder, 1, "\"quay.io/x:1\", \"quay.io/e:1\"", "e", 3, 1);
        g_autoptr(BuiltImage) more = store_builder_add(builder, 2, "\"quay.io/e:1\", \"quay.io/m:1\"", "m", 2, 2);

        expect_image("quay.io/x:1", primary, "quay.io/x:1", "/store", true);
        expect_image("quay.io/e:1", extra, "quay.io/e:1", "/usr/extra", false);
        expect_image("quay.io/m:1", more, "quay.io/m:1", "/usr/more", false);
        expect_error("quay.io/none:1", KT_ERROR_NOT_FOUND, "/usr/extra', '");
}
END_TEST

/* A name that was taken from an image of a read-only store: podman keeps the rest in its own store. */
START_TEST(test_removed_name) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 1, "\"quay.io/x:1\", \"quay.io/x:2\"", "x", 1, 1);

        expect_image("quay.io/x:1", image, "quay.io/x:1", "/usr/extra", false);
        g_clear_pointer(&image, built_image_free);
        image = store_builder_add(builder, 0, "\"quay.io/x:2\"", "x", 1, 0);
        expect_error("quay.io/x:1", KT_ERROR_NOT_FOUND, "quay.io/x:1");
        expect_image("quay.io/x:2", image, "quay.io/x:2", "/store", true);

        g_autoptr(BuiltImage) other = store_builder_add(builder, 2, "\"quay.io/x:1\"", "o", 1, 2);
        expect_image("quay.io/x:1", other, "quay.io/x:1", "/usr/more", false);
}
END_TEST

/* podman pulled only the layer that no other store had. */
START_TEST(test_layers_in_two_stores) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 0, "\"quay.io/x:1\"", "x", 4, 2);

        ck_assert(strstr(image->directories[0], "/usr/more/overlay/"));
        ck_assert(strstr(image->directories[3], "/store/overlay/"));
        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
}
END_TEST

START_TEST(test_manifest_list) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 1, "\"quay.io/instance:1\"", "x", 2, 1);
        g_autofree char *entry = g_strdup_printf(
                "{\"digest\": \"%s\", \"platform\": {\"os\": \"linux\", \"architecture\": \"%s\"}}", image->digest,
                manifest_architecture());

        built_image_free(store_builder_add_list(builder, 0, "\"quay.io/list:1\"", entry));
        expect_image("quay.io/list:1", image, "quay.io/list:1", "/usr/extra", false);

        built_image_free(store_builder_add_list(
                builder, 0, "\"quay.io/foreign:1\"",
                "{\"digest\": \"x\", \"platform\": {\"os\": \"linux\", \"architecture\": \"pdp11\"}}"));
        expect_error("quay.io/foreign:1", KT_ERROR_NOT_FOUND, "only for: linux/pdp11");

        g_autofree char *absent = g_strdup_printf("{\"digest\": \"sha256:%s\", \"platform\": {\"os\": \"linux\", "
                                                  "\"architecture\": \"%s\"}}",
                                                  image->id, manifest_architecture());
        built_image_free(store_builder_add_list(builder, 0, "\"quay.io/absent:1\"", absent));
        expect_error("quay.io/absent:1", KT_ERROR_NOT_FOUND, "the one for this machine");
}
END_TEST

/* What is done to a store that has the image quay.io/x:1 with four layers, and the error that it must end
 * in; NULL: the image must still be found. */
typedef struct Damage {
        void (*apply)(const BuiltImage *image);
        const char *message;
        int code;
} Damage;

static void write_in_store(const char *path, const char *text) {
        g_autofree char *full = g_strconcat("/store/", path, NULL);

        store_builder_write(builder, full, text);
}

static void run(const char *format, ...) G_GNUC_PRINTF(1, 2);

/* A shell command in the store's directory. */
static void run(const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_autofree char *command = g_strdup_vprintf(format, ap);
        va_end(ap);
        g_autofree char *line = g_strdup_printf("cd %s/store && %s", builder->root, command);
        const char *const words[] = { "/bin/sh", "-ec", line, NULL };
        int status = -1;
        ck_assert(g_spawn_sync(NULL, (char **) words, NULL, 0, NULL, NULL, NULL, NULL, &status, NULL));
        ck_assert_int_eq(status, 0);
}

static void truncate_images_json(const BuiltImage *image) {
        run("truncate -s -1 overlay-images/images.json");
}

static void lose_images_json(const BuiltImage *image) {
        run("rm overlay-images/images.json");
}

static void empty_images_json(const BuiltImage *image) {
        run(": > overlay-images/images.json");
}

static void make_images_json_huge(const BuiltImage *image) {
        run("truncate -s 65M overlay-images/images.json");
}

static void make_images_json_a_fifo(const BuiltImage *image) {
        run("rm overlay-images/images.json && mkfifo overlay-images/images.json");
}

static void lead_id_astray(const BuiltImage *image) {
        write_in_store("overlay-images/images.json", "[{\"id\": \"../../../etc\", \"names\": [\"quay.io/x:1\"]}]");
}

static void lead_layer_astray(const BuiltImage *image) {
        run("sed -i 's,\"layer\":\"[0-9a-f]*\",\"layer\":\"../../../etc\",' overlay-images/images.json");
}

static void lose_layer_id(const BuiltImage *image) {
        run("sed -i 's,\"layer\":\"[0-9a-f]*\",\"layer\":null,' overlay-images/images.json");
}

static void lose_config(const BuiltImage *image) {
        run("for f in overlay-images/%s/=c2hhMjU2O*; do rm \"$f\"; done", image->id);
}

static void damage_config(const BuiltImage *image) {
        run("for f in overlay-images/%s/=c2hhMjU2O*; do echo >> \"$f\"; done", image->id);
}

static void lose_top_layer(const BuiltImage *image) {
        run("rm -r overlay/%s", image->layers[3]);
}

static void lose_layer(const BuiltImage *image) {
        run("rm -r overlay/%s", image->layers[1]);
}

static void lose_diff(const BuiltImage *image) {
        run("rm -r overlay/%s/diff", image->layers[0]);
}

static void make_diff_a_link(const BuiltImage *image) {
        run("rm -r overlay/%s/diff && ln -s /etc overlay/%s/diff", image->layers[2], image->layers[2]);
}

static void make_diff_a_file(const BuiltImage *image) {
        run("rm -r overlay/%s/diff && touch overlay/%s/diff", image->layers[2], image->layers[2]);
}

static void make_composefs(const BuiltImage *image) {
        run("mkdir overlay/%s/composefs-data", image->layers[0]);
}

static void lose_lower(const BuiltImage *image) {
        run("rm overlay/%s/lower", image->layers[3]);
}

static void shorten_lower(const BuiltImage *image) {
        run("cp overlay/%s/lower overlay/%s/lower", image->layers[2], image->layers[3]);
}

static void swap_lower(const BuiltImage *image) {
        run("awk -F: '{print $2\":\"$1\":\"$3}' overlay/%s/lower > x && mv x overlay/%s/lower", image->layers[3],
            image->layers[3]);
}

static void repeat_lower(const BuiltImage *image) {
        run("awk -F: '{print $1\":\"$1\":\"$3}' overlay/%s/lower > x && mv x overlay/%s/lower", image->layers[3],
            image->layers[3]);
}

static void loop_lower(const BuiltImage *image) {
        run("printf l/%%s $(cat overlay/%s/link) > x && awk -F: -v top=$(cat x) '{print $1\":\"$2\":\"top}' "
            "overlay/%s/lower > y && mv y overlay/%s/lower",
            image->layers[3], image->layers[3], image->layers[3]);
}

static void write_lower(const BuiltImage *image, const char *text) {
        g_autofree char *path = g_strdup_printf("overlay/%s/lower", image->layers[3]);

        write_in_store(path, text);
}

static void make_lower_absolute(const BuiltImage *image) {
        write_lower(image, "/etc:/usr:/");
}

static void make_lower_climb(const BuiltImage *image) {
        write_lower(image, "l/..:l/../../..:l/x");
}

static void make_lower_empty_names(const BuiltImage *image) {
        write_lower(image, "l/:l/:l/");
}

static void set_link(const BuiltImage *image, const char *target) {
        run("ln -sfn '%s' overlay/l/$(cat overlay/%s/link)", target, image->layers[1]);
}

static void make_link_absolute(const BuiltImage *image) {
        set_link(image, "/etc");
}

static void make_link_climb(const BuiltImage *image) {
        set_link(image, "../../../../../../etc");
}

static void make_link_climb_behind_id(const BuiltImage *image) {
        g_autofree char *target = g_strdup_printf("../%s/diff/../../../..", image->layers[1]);

        set_link(image, target);
}

/* As long as an id. */
static void make_link_climb_as_id(const BuiltImage *image) {
        static const char *const target = "../" /* and then 64 */
                                          "../../../../../../../../../../../../../../../../../../../../../."
                                          "/diff";

        ck_assert_uint_eq(strlen(target), 3 + 64 + 5);
        set_link(image, target);
}

static void make_link_long(const BuiltImage *image) {
        g_autofree char *name = g_strnfill(2000, 'a');

        set_link(image, name);
}

static void lose_links(const BuiltImage *image) {
        run("rm -r overlay/l");
}

static void lose_links_and_a_link_file(const BuiltImage *image) {
        run("rm -r overlay/l && echo WRONG > overlay/%s/link", image->layers[2]);
}

static void make_ids_uncomputable(const BuiltImage *image) {
        /* as after a pull in parts, when the uppermost layer has another name than can be computed */
        run("mv overlay/%s overlay/%064d", image->layers[3], 7);
        run("sed -i 's/\"layer\":\"[0-9a-f]*/\"layer\":\"%064d/' overlay-images/images.json", 7);
}

static const Damage damages[] = {
        { truncate_images_json,
          "images.json' is damaged; move it away, and get the images again: it is no valid JSON", KT_ERROR_FAILED },
        { lose_images_json, "not in the image stores", KT_ERROR_NOT_FOUND },
        { empty_images_json, "not in the image stores", KT_ERROR_NOT_FOUND },
        { make_images_json_huge, "is over 64 MiB", KT_ERROR_FAILED },
        { make_images_json_a_fifo, "not a regular file", KT_ERROR_FAILED },
        { lead_id_astray, "no valid id", KT_ERROR_FAILED },
        { lead_layer_astray, "does not say which is its uppermost layer", KT_ERROR_FAILED },
        { lose_layer_id, "does not say which is its uppermost layer", KT_ERROR_FAILED },
        { lose_config, "' is missing", KT_ERROR_FAILED },
        { damage_config, "' is damaged: its digest is not 'sha256:", KT_ERROR_FAILED },
        { lose_top_layer, "is in none of the stores", KT_ERROR_FAILED },
        { lose_layer, "is missing: No such file", KT_ERROR_FAILED },
        { lose_diff, "is missing: No such file or directory. If that stays so, remove the image (", KT_ERROR_FAILED },
        { make_diff_a_link, "is in an additional layer store", KT_ERROR_UNSUPPORTED },
        { make_diff_a_file, "is not a directory", KT_ERROR_FAILED },
        { make_composefs, "is in composefs form", KT_ERROR_UNSUPPORTED },
        { lose_lower, "configuration has 4 layers, and the store 1", KT_ERROR_FAILED },
        { shorten_lower, "configuration has 4 layers, and the store 3", KT_ERROR_FAILED },
        { swap_lower, "and by the image's configuration it is", KT_ERROR_FAILED },
        { repeat_lower, "and by the image's configuration it is", KT_ERROR_FAILED },
        { loop_lower, "and by the image's configuration it is", KT_ERROR_FAILED },
        { make_lower_absolute, "'/etc' in the list of lower layers is no link", KT_ERROR_FAILED },
        { make_lower_climb, "'l/..' in the list of lower layers is no link", KT_ERROR_FAILED },
        { make_lower_empty_names, "'l/' in the list of lower layers is no link", KT_ERROR_FAILED },
        { make_link_absolute, "does not point to a layer's directory", KT_ERROR_FAILED },
        { make_link_climb, "does not point to a layer's directory", KT_ERROR_FAILED },
        { make_link_climb_behind_id, "does not point to a layer's directory", KT_ERROR_FAILED },
        { make_link_climb_as_id, "does not point to a layer's directory", KT_ERROR_FAILED },
        { make_link_long, "does not point to a layer's directory", KT_ERROR_FAILED },
        { lose_links, NULL, 0 },
        { lose_links_and_a_link_file, "is in none of the stores", KT_ERROR_FAILED },
};

START_TEST(test_damage) {
        const Damage *damage = &damages[_i];
        g_autoptr(BuiltImage) image = store_builder_add(builder, 0, "\"quay.io/x:1\"", "x", 4, 0);

        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
        damage->apply(image);
        if (damage->message)
                expect_error("quay.io/x:1", damage->code, damage->message);
        else
                expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
}
END_TEST

/* It is only looked at where it is asked for: the configuration's digest is the image's id. */
START_TEST(test_damaged_manifest) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 0, "\"quay.io/x:1\"", "x", 4, 0);
        g_autofree char *by_digest = g_strconcat("quay.io/x@", image->digest, NULL);

        run("for f in overlay-images/%s/*; do case $f in */=c2hh*) ;; *) echo >> $f;; esac; done", image->id);
        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
        expect_error(by_digest, KT_ERROR_FAILED, "' is damaged: its digest is not 'sha256:");
        run("for f in overlay-images/%s/*; do case $f in */=c2hh*) ;; *) rm $f;; esac; done", image->id);
        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
        expect_error(by_digest, KT_ERROR_FAILED, "' is missing");
}
END_TEST

/* Pulled in parts: ids do not follow from the configuration, so only their number and difference can be
 * checked. */
START_TEST(test_uncomputable_ids) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 0, "\"quay.io/x:1\"", "x", 4, 0);

        make_ids_uncomputable(image);
        g_free(image->directories[3]);
        image->directories[3] = g_strdup_printf("%s/store/overlay/%064d", builder->root, 7);
        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);

        run("awk -F: '{print $1\":\"$1\":\"$3}' overlay/%064d/lower > x && mv x overlay/%064d/lower", 7, 7);
        expect_error("quay.io/x:1", KT_ERROR_FAILED, "is there twice");
}
END_TEST

START_TEST(test_many_layers) {
        g_autoptr(BuiltImage) most = store_builder_add(builder, 0, "\"quay.io/most:1\"", "m", 500, 0);

        expect_image("quay.io/most:1", most, "quay.io/most:1", "/store", true);
        built_image_free(store_builder_add(builder, 0, "\"quay.io/toomany:1\"", "m", 501, 0));
        expect_error("quay.io/toomany:1", KT_ERROR_UNSUPPORTED, "it has 501 layers, and overlayfs can only have 500");
}
END_TEST

#define ROUNDS 300
#define PRESENT_USEC 2000

/* What one process tells the other. */
typedef struct Told {
        atomic_uint rounds;
        atomic_bool enough;
} Told;

/* Plays podman: takes the image out of images.json, moves its files away and brings all back, each file
 * whole and one step after the other. Both pauses are longer than a search. */
static void replace_image(const char *images_json, const char *directory, Told *told) {
        g_autofree char *other = g_strconcat(images_json, ".other", NULL);
        g_autofree char *away = g_strconcat(directory, ".away", NULL);

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        ck_assert(g_file_set_contents(other, "[]", -1, NULL));
        for (; !told->enough; told->rounds++) {
                if (renameat2(AT_FDCWD, other, AT_FDCWD, images_json, RENAME_EXCHANGE) < 0 ||
                    rename(directory, away) < 0)
                        _exit(1);
                g_usleep(300);
                if (rename(away, directory) < 0 ||
                    renameat2(AT_FDCWD, other, AT_FDCWD, images_json, RENAME_EXCHANGE) < 0)
                        _exit(1);
                g_usleep(PRESENT_USEC);
        }
        _exit(0);
}

/* Whatever is read must be the image, or the clear answer that it is not there. */
START_TEST(test_concurrent_changes) {
        g_autoptr(BuiltImage) image = store_builder_add(builder, 0, "\"quay.io/x:1\"", "x", 2, 0);
        g_autofree char *json = g_strconcat(builder->root, "/store/overlay-images/images.json", NULL);
        g_autofree char *directory = g_strconcat(builder->root, "/store/overlay-images/", image->id, NULL);
        unsigned found = 0, absent = 0;
        int status = -1;
        Told *told = mmap(NULL, sizeof *told, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        pid_t pid = fork();

        ck_assert_int_ge(pid, 0);
        if (pid == 0)
                replace_image(json, directory, told);
        while (told->rounds < ROUNDS || found == 0 || absent == 0) {
                gint64 began = g_get_monotonic_time();
                g_autoptr(GError) error = NULL;
                g_autoptr(StoreImage) now = store_image_find(builder->root, "quay.io/x:1", NULL, &error);

                ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
                if (now)
                        found++;
                else if (error->code == KT_ERROR_NOT_FOUND)
                        absent++;
                else {
                        /* The second look at the store finds one state or the other, unless the image was there and
                         * went twice meanwhile. Without it, about 30 of the 300 rounds are seen half done. */
                        ck_assert_msg(strstr(error->message, "is missing"), "%s", error->message);
                        ck_assert_int_ge(g_get_monotonic_time() - began, PRESENT_USEC);
                }
        }
        told->enough = true;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
        expect_image("quay.io/x:1", image, "quay.io/x:1", "/store", true);
}
END_TEST

TEST_MAIN("image", {
        tcase_set_timeout(tcase, 60);
        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_references);
        tcase_add_test(tcase, test_short_names);
        tcase_add_test(tcase, test_ambiguous_id);
        tcase_add_test(tcase, test_stores);
        tcase_add_test(tcase, test_removed_name);
        tcase_add_test(tcase, test_layers_in_two_stores);
        tcase_add_test(tcase, test_manifest_list);
        tcase_add_loop_test(tcase, test_damage, 0, G_N_ELEMENTS(damages));
        tcase_add_test(tcase, test_damaged_manifest);
        tcase_add_test(tcase, test_uncomputable_ids);
        tcase_add_test(tcase, test_many_layers);
        tcase_add_test(tcase, test_concurrent_changes);
})
