/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/podman-leases.h"
#include "tests/unit/test-main.h"

#define PAGE 4096
#define LEAF 2
#define BRANCH 1

/* Databases as bbolt writes them. */

static void put(GByteArray *bytes, guint64 number, guint size) {
        g_byte_array_append(bytes, (const guint8 *) &number, size);
}

typedef struct Element {
        const void *key;
        gsize key_size;
        const GByteArray *bucket; /* or NULL: a value */
} Element;

static void put_header(GByteArray *page, guint64 id, guint flags, guint count) {
        put(page, id, 8);
        put(page, flags, 2);
        put(page, count, 2);
        put(page, 0, 4);
}

static GByteArray *make_leaf(guint64 id, const Element *elements, guint count) {
        GByteArray *page = g_byte_array_new();
        gsize position = 16 + 16 * (gsize) count;

        put_header(page, id, LEAF, count);
        for (guint i = 0; i < count; i++) {
                gsize value = elements[i].bucket ? elements[i].bucket->len : 1;

                put(page, elements[i].bucket != NULL, 4);
                put(page, position - page->len + 4, 4);
                put(page, elements[i].key_size, 4);
                put(page, value, 4);
                position += elements[i].key_size + value;
        }
        for (guint i = 0; i < count; i++) {
                g_byte_array_append(page, elements[i].key, (guint) elements[i].key_size);
                if (elements[i].bucket)
                        g_byte_array_append(page, elements[i].bucket->data, elements[i].bucket->len);
                else
                        put(page, 'c', 1);
        }
        return page;
}

/* A bucket's value: on a page, or inline. */
static GByteArray *make_bucket(guint64 page, const GByteArray *leaf) {
        GByteArray *value = g_byte_array_new();

        put(value, page, 8);
        put(value, 0, 8);
        if (leaf)
                g_byte_array_append(value, leaf->data, leaf->len);
        return value;
}

static void put_page(GByteArray *file, guint64 id, const GByteArray *page) {
        g_byte_array_set_size(file, (guint) MAX(file->len, (id + 1) * PAGE));
        memcpy(file->data + id * PAGE, page->data, page->len);
}

static void put_meta(GByteArray *file, guint64 id, guint64 root, guint64 transaction) {
        g_autoptr(GByteArray) page = g_byte_array_new();

        put_header(page, id, 4, 0);
        put(page, 0xED0CDAED, 4);
        put(page, 2, 4);
        put(page, PAGE, 4);
        put(page, 0, 4);
        put(page, root, 8);
        put(page, 0, 8);
        put(page, 2, 8);
        put(page, 9, 8);
        put(page, transaction, 8);
        put(page, 0, 8);
        put_page(file, id, page);
}

/* net1 has a subnet inline and one on a page, behind a branch; page 3 is an older root. */
static GByteArray *make_database(void) {
        GByteArray *file = g_byte_array_new();
        const Element v4[] = { { "\x0a\x59\x00\x02", 4 }, { "\x0a\x59\x00\x03", 4 }, { "lastIP", 6 } };
        const Element v6[] = { { "\xfd\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x09", 16 } };
        g_autoptr(GByteArray) leaf4 = make_leaf(0, v4, 3), bucket4 = make_bucket(0, leaf4),
                              leaf6 = make_leaf(6, v6, 1);
        g_autoptr(GByteArray) bucket6 = make_bucket(5, NULL), branch = g_byte_array_new(),
                              old = make_leaf(3, NULL, 0);
        const Element subnets[] = { { "10.89.0.0/24", 12, bucket4 },
                                    { "fd00::/64", 9, bucket6 },
                                    { "ids", 3, bucket4 } };
        g_autoptr(GByteArray) net1 = make_leaf(0, subnets, 3), bucket1 = make_bucket(0, net1);
        const Element networks[] = { { "net1", 4, bucket1 }, { "net2", 4, bucket4 } };
        g_autoptr(GByteArray) root = make_leaf(4, networks, 2);

        put_header(branch, 5, BRANCH, 1);
        put(branch, 16, 4);
        put(branch, 0, 4);
        put(branch, 6, 8);
        put_meta(file, 0, 4, 8);
        put_meta(file, 1, 3, 7);
        put_page(file, 3, old);
        put_page(file, 4, root);
        put_page(file, 5, branch);
        put_page(file, 6, leaf6);
        return file;
}

static void expect(const GByteArray *file, const char *network, bool readable, const char *addresses) {
        g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(IpAddress));
        g_autoptr(GString) text = g_string_new(NULL);

        ck_assert_int_eq(podman_leases_read(file->data, file->len, network, found), readable);
        for (guint i = 0; i < found->len; i++) {
                g_autofree char *address = ip_address_format(&g_array_index(found, IpAddress, i));

                g_string_append_printf(text, "%s ", address);
        }
        if (readable)
                ck_assert_str_eq(text->str, addresses);
}

START_TEST(test_read) {
        g_autoptr(GByteArray) file = make_database();

        expect(file, "net1", true, "10.89.0.2 10.89.0.3 fd00::9 ");
        expect(file, "net", true, "");
        expect(file, "net3", true, "");
        put_meta(file, 1, 3, 9); /* the older root is the newer */
        expect(file, "net1", true, "");
}
END_TEST

START_TEST(test_broken) {
        g_autoptr(GByteArray) file = make_database(), empty = g_byte_array_new();

        expect(empty, "net1", false, NULL);
        put_meta(file, 0, 5, 10); /* a branch that is its own child */
        memcpy(file->data + 5 * PAGE + 24, "\x05", 1);
        expect(file, "net1", false, NULL);
        put_meta(file, 0, 1U << 30, 10);
        expect(file, "net1", false, NULL);
}
END_TEST

/* No byte makes it read beyond the end; the sanitizers of the fuzzers would say so, too. */
START_TEST(test_each_byte) {
        g_autoptr(GByteArray) file = make_database();

        for (guint i = 0; i < file->len; i += i % PAGE < 256 ? 1 : 97) {
                g_autofree guint8 *copy = g_memdup2(file->data, file->len);
                g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(IpAddress));

                copy[i] ^= 0xff;
                (void) podman_leases_read(copy, file->len, "net1", found);
        }
}
END_TEST

TEST_MAIN("podman-leases", {
        tcase_add_test(tcase, test_read);
        tcase_add_test(tcase, test_broken);
        tcase_add_test(tcase, test_each_byte);
})
