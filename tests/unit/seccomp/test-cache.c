/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>

#include "libstart/seccomp/cache.h"
#include "tests/unit/test-main.h"

#define OFFSET_FORMAT 8
#define OFFSET_PATH_LENGTH 28
#define OFFSET_FILTER_LENGTH 32
#define OFFSET_ZERO 36
#define OFFSET_DIGEST 136
#define OFFSET_PATH 168

static const struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 39, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static SeccompCacheEntry *make_entry(const char *path) {
        SeccompCacheEntry *entry = g_new0(SeccompCacheEntry, 1);

        entry->header.arch = 0xc000003e;
        entry->header.bounding_caps = 0xa80425fb;
        entry->header.kernel = 0x60012;
        memset(entry->header.key, 1, sizeof entry->header.key);
        memset(entry->header.sources, 2, sizeof entry->header.sources);
        memset(entry->header.content, 3, sizeof entry->header.content);
        entry->path = g_strdup(path);
        entry->filter = g_bytes_new_static(program, sizeof program);
        return entry;
}

static char *encode(const char *path, gsize *ret_length) {
        g_autoptr(SeccompCacheEntry) entry = make_entry(path);

        return g_bytes_unref_to_data(seccomp_cache_encode(entry), ret_length);
}

START_TEST(test_round_trip) {
        static const char *const paths[] = { "/a", "/seven.", "/eight..", "/nine....",
                                             "/etc/containers/seccomp.json" };
        gsize length;
        g_autofree char *file = encode(paths[_i], &length);
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_decode(file, length, NULL);

        ck_assert_uint_eq(length % 8, 0);
        ck_assert_ptr_nonnull(entry);
        ck_assert_uint_eq(entry->header.arch, 0xc000003e);
        ck_assert_uint_eq(entry->header.bounding_caps, 0xa80425fb);
        ck_assert_uint_eq(entry->header.kernel, 0x60012);
        ck_assert(entry->header.key[0] == 1 && entry->header.key[31] == 1);
        ck_assert(entry->header.sources[0] == 2 && entry->header.sources[31] == 2);
        ck_assert(entry->header.content[0] == 3 && entry->header.content[31] == 3);
        ck_assert_str_eq(entry->path, paths[_i]);
        ck_assert_mem_eq(g_bytes_get_data(entry->filter, NULL), program, sizeof program);
}
END_TEST

START_TEST(test_every_truncation) {
        gsize length;
        g_autofree char *file = encode("/etc/containers/seccomp.json", &length);

        for (gsize cut = 0; cut < length; cut++) {
                g_autofree char *copy = g_memdup2(file, cut); /* so that valgrind and ASan see what is beyond */

                ck_assert_ptr_null(seccomp_cache_decode(copy ? copy : "", cut, NULL));
        }
}
END_TEST

START_TEST(test_every_flipped_bit) {
        gsize length;
        g_autofree char *file = encode("/etc/containers/seccomp.json", &length);

        for (gsize bit = 0; bit < 8 * length; bit++) {
                file[bit / 8] = (char) (file[bit / 8] ^ 1 << bit % 8);
                ck_assert_msg(!seccomp_cache_decode(file, length, NULL), "bit %zu", bit);
                file[bit / 8] = (char) (file[bit / 8] ^ 1 << bit % 8);
        }
}
END_TEST

START_TEST(test_something_behind) {
        gsize length;
        g_autofree char *file = encode("/p.json", &length), *longer = g_malloc0(length + 8);

        memcpy(longer, file, length);
        for (gsize more = 1; more <= 8; more++)
                ck_assert_ptr_null(seccomp_cache_decode(longer, length + more, NULL));
}
END_TEST

/* A file whose digest is right, and which still must not be believed. */
static const struct {
        gsize offset;
        guint32 value;
        const char *message;
} forged[] = {
        { OFFSET_FORMAT, 0, "format 0 instead of 2" },
        { OFFSET_FORMAT, 3, "format 3 instead of 2" },
        { OFFSET_PATH_LENGTH, 0, "the profile's path has 0 bytes" },
        { OFFSET_PATH_LENGTH, 4096, "the profile's path has 4096 bytes" },
        { OFFSET_PATH_LENGTH, 0xffffffff, "the profile's path has 4294967295 bytes" },
        { OFFSET_PATH_LENGTH, 9, "the file has 208 bytes instead of 216" },
        { OFFSET_PATH_LENGTH, 7, "there is something behind the profile's path" },
        { OFFSET_FILTER_LENGTH, 0, "the filter has 0 bytes" },
        { OFFSET_FILTER_LENGTH, 31, "the filter has 31 bytes" },
        { OFFSET_FILTER_LENGTH, 24, "the file has 208 bytes instead of 200" },
        { OFFSET_FILTER_LENGTH, 40, "the file has 208 bytes instead of 216" },
        { OFFSET_FILTER_LENGTH, 4096 * 8 + 8, "the filter has 32776 bytes" },
        { OFFSET_FILTER_LENGTH, 0xfffffff8, "the filter has 4294967288 bytes" },
        { OFFSET_ZERO, 1, "a field without meaning is not 0" },
        { OFFSET_PATH, 0x2e6e6f2e, "the profile's path is none" },
        { OFFSET_PATH + 4, 0x00732f2e, "the profile's path is none" },
};

static void seal(char *file, gsize length) {
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_MD5);
        gsize size = SECCOMP_DIGEST_SIZE;

        memset(file + OFFSET_DIGEST, 0, SECCOMP_DIGEST_SIZE);
        g_checksum_update(checksum, (guchar *) file, (gssize) length);
        g_checksum_get_digest(checksum, (guint8 *) file + OFFSET_DIGEST, &size);
}

START_TEST(test_forged) {
        gsize length;
        g_autofree char *file = encode("/p/p.jso", &length);
        g_autoptr(GError) error = NULL;

        memcpy(file + forged[_i].offset, &forged[_i].value, sizeof forged[_i].value);
        seal(file, length);
        ck_assert_ptr_null(seccomp_cache_decode(file, length, &error));
        ck_assert_str_eq(error->message, forged[_i].message);
}
END_TEST

START_TEST(test_sealing_is_the_writers) {
        gsize length;
        g_autofree char *file = encode("/p/p.jso", &length);
        g_autofree char *copy = g_memdup2(file, length);

        seal(copy, length);
        ck_assert_mem_eq(copy, file, length);
}
END_TEST

/* Whatever the filter depends on makes another key. */
START_TEST(test_keys) {
        static const SeccompTarget targets[] = { { 1, 0xc000003e, 0x60012 },
                                                 { 2, 0xc000003e, 0x60012 },
                                                 { 1, 3, 0x60012 } };
        static const char *const profiles[] = { NULL, "/a", "/b", "default" };
        SeccompCacheKey keys[G_N_ELEMENTS(targets) * G_N_ELEMENTS(profiles)], other_kernel, first;
        size_t n = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(targets); i++)
                for (size_t k = 0; k < G_N_ELEMENTS(profiles) - 1; k++)
                        seccomp_cache_key_init(&keys[n++], profiles[k], &targets[i]);
        for (size_t i = 0; i < n; i++) {
                ck_assert_uint_eq(strlen(keys[i].name), 68);
                for (size_t k = 0; k < i; k++)
                        ck_assert_str_ne(keys[i].name, keys[k].name);
        }
        /* The kernel's version is not in the key: it only matters to profiles that ask for it. */
        seccomp_cache_key_init(&first, NULL, &targets[0]);
        seccomp_cache_key_init(&other_kernel, NULL, &(SeccompTarget) { 1, 0xc000003e, 0x50000 });
        ck_assert_str_eq(first.name, other_kernel.name);
}
END_TEST

static const struct {
        const char *profile;
        SeccompTarget target;
        guint32 entry_kernel;
        const char *entry_path;
        const char *message; /* NULL: it is the filter */
} matches[] = {
        { "/p", { 5, 0xc000003e, 0x60012 }, 0, "/p", NULL },
        { "/p", { 5, 0xc000003e, 0x60012 }, 0x60012, "/p", NULL },
        { "/p", { 5, 0xc000003e, 0x60012 }, 0x60011, "/p", "it was made for kernel 6.17" },
        { "/p", { 5, 0xc000003e, 0x60012 }, 0, "/q", "it is the filter of '/q'" },
        { NULL, { 5, 0xc000003e, 0x60012 }, 0, "/q", NULL },
        { NULL, { 4, 0xc000003e, 0x60012 }, 0, "/q", "it is another container's filter" },
        { NULL, { 5, 0xc00000b7, 0x60012 }, 0, "/q", "it is another container's filter" },
};

START_TEST(test_matching) {
        g_autoptr(SeccompCacheEntry) entry = make_entry(matches[_i].entry_path);
        SeccompCacheKey made, asked;
        g_autoptr(GError) error = NULL;

        seccomp_cache_key_init(&made, matches[_i].profile, &(SeccompTarget) { 5, 0xc000003e, 0 });
        seccomp_cache_key_init(&asked, matches[_i].profile, &matches[_i].target);
        entry->header.bounding_caps = 5;
        entry->header.kernel = matches[_i].entry_kernel;
        memcpy(entry->header.key, made.digest, sizeof entry->header.key);
        ck_assert_int_eq(seccomp_cache_check_key(entry, &asked, &error), !matches[_i].message);
        if (matches[_i].message)
                ck_assert_str_eq(error->message, matches[_i].message);
}
END_TEST

TEST_MAIN("cache", {
        tcase_add_loop_test(tcase, test_round_trip, 0, 5);
        tcase_add_test(tcase, test_every_truncation);
        tcase_add_test(tcase, test_every_flipped_bit);
        tcase_add_test(tcase, test_something_behind);
        tcase_add_loop_test(tcase, test_forged, 0, G_N_ELEMENTS(forged));
        tcase_add_test(tcase, test_sealing_is_the_writers);
        tcase_add_test(tcase, test_keys);
        tcase_add_loop_test(tcase, test_matching, 0, G_N_ELEMENTS(matches));
})
