/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/socket.h>

#include "libstart/network/podman-leases.h"

/* Numbers are in the machine's own byte order, as Go maps the file. */
#define MAGIC 0xED0CDAEDU
#define FLAG_BRANCH 0x01
#define FLAG_LEAF 0x02
#define FLAG_BUCKET 0x01
#define MAX_DEPTH 24

typedef struct PageHeader {
        guint64 id;
        guint16 flags, count;
        guint32 overflow;
} PageHeader;

typedef struct Meta {
        guint32 magic, version, page_size, flags;
        guint64 root, sequence, freelist, next, transaction, checksum;
} Meta;

/* Both are 16 bytes long; positions count from the element. */
typedef struct BranchElement {
        guint32 position, key_size;
        guint64 page;
} BranchElement;

typedef struct LeafElement {
        guint32 flags, position, key_size, value_size;
} LeafElement;

typedef struct Bytes {
        const guint8 *data;
        gsize length;
} Bytes;

typedef struct Database {
        Bytes file;
        guint64 page_size;
        guint budget; /* of elements: a page that is its own child would never end */
} Database;

typedef bool (*Visitor)(Database *db, Bytes key, Bytes value, bool is_bucket, void *user);

static bool cut(Bytes whole, guint64 position, guint64 length, Bytes *ret) {
        if (position > whole.length || length > whole.length - position)
                return false;
        *ret = (Bytes) { whole.data + position, length };
        return true;
}

static bool read_at(Bytes whole, guint64 position, void *ret, gsize size) {
        Bytes part;

        if (!cut(whole, position, size, &part))
                return false;
        memcpy(ret, part.data, size);
        return true;
}

static bool visit_page(Database *db, guint64 id, guint depth, Visitor visitor, void *user);

static bool visit_leaf(Database *db, Bytes page, guint64 at, Visitor visitor, void *user) {
        LeafElement element;
        Bytes key, value;

        return read_at(page, at, &element, sizeof element) &&
               cut(page, at + element.position, element.key_size, &key) &&
               cut(page, at + element.position + element.key_size, element.value_size, &value) &&
               visitor(db, key, value, element.flags & FLAG_BUCKET, user);
}

/* page: with its overflow, or a small bucket's inside of a value. */
static bool visit_elements(Database *db, Bytes page, guint depth, Visitor visitor, void *user) {
        PageHeader header;

        if (depth > MAX_DEPTH || !read_at(page, 0, &header, sizeof header))
                return false;
        for (guint i = 0; i < header.count; i++) {
                guint64 at = sizeof header + i * sizeof(LeafElement);
                BranchElement branch;
                bool ok;

                if (db->budget-- == 0)
                        return false;
                if (header.flags & FLAG_LEAF)
                        ok = visit_leaf(db, page, at, visitor, user);
                else
                        ok = header.flags & FLAG_BRANCH && read_at(page, at, &branch, sizeof branch) &&
                             visit_page(db, branch.page, depth + 1, visitor, user);
                if (!ok)
                        return false;
        }
        return true;
}

static bool visit_page(Database *db, guint64 id, guint depth, Visitor visitor, void *user) {
        PageHeader header;
        Bytes page;

        return id < db->file.length / db->page_size &&
               read_at(db->file, id * db->page_size, &header, sizeof header) &&
               cut(db->file, id * db->page_size, (header.overflow + (guint64) 1) * db->page_size, &page) &&
               visit_elements(db, page, depth, visitor, user);
}

/* value: a bucket's page and sequence; page 0: it follows. */
static bool visit_bucket(Database *db, Bytes value, Visitor visitor, void *user) {
        guint64 root;
        Bytes page;

        if (!read_at(value, 0, &root, sizeof root))
                return false;
        if (root != 0)
                return visit_page(db, root, 0, visitor, user);
        return cut(value, 16, value.length - MIN(value.length, 16), &page) &&
               visit_elements(db, page, 0, visitor, user);
}

typedef struct Search {
        const char *network;
        GArray *addresses;
} Search;

static bool see_address(Database *db, Bytes key, Bytes value, bool is_bucket, void *user) {
        const Search *search = user;
        IpAddress address = { .family = key.length == 4 ? AF_INET : AF_INET6 };

        if (!is_bucket && (key.length == 4 || key.length == 16)) {
                memcpy(address.byte, key.data, key.length);
                g_array_append_val(search->addresses, address);
        }
        return true;
}

/* "ids" has other keys: containers. */
static bool see_subnet(Database *db, Bytes key, Bytes value, bool is_bucket, void *user) {
        return !is_bucket || !memchr(key.data, '/', key.length) || visit_bucket(db, value, see_address, user);
}

static bool see_network(Database *db, Bytes key, Bytes value, bool is_bucket, void *user) {
        const Search *search = user;

        return !is_bucket || key.length != strlen(search->network) ||
               memcmp(key.data, search->network, key.length) != 0 || visit_bucket(db, value, see_subnet, user);
}

/* The newer of the two that there are. */
static bool find_meta(const Database *db, Meta *ret) {
        bool found = false;
        Meta meta = { 0 };

        for (guint64 page = 0; page < 2; page++)
                if (read_at(db->file, page * db->page_size + sizeof(PageHeader), &meta, sizeof meta) &&
                    meta.magic == MAGIC && meta.version == 2 && meta.page_size == db->page_size &&
                    (!found || meta.transaction > ret->transaction)) {
                        *ret = meta;
                        found = true;
                }
        return found;
}

bool podman_leases_read(const guint8 *data, gsize length, const char *network, GArray *addresses) {
        Database db = { .file = { data, length }, .budget = 1U << 20 };
        Search search = { network, addresses };
        Meta meta = { 0 };

        /* A kernel's page: of these sizes. */
        for (db.page_size = 4096; db.page_size <= 65536; db.page_size *= 2)
                if (find_meta(&db, &meta))
                        return visit_page(&db, meta.root, 0, see_network, &search);
        return false;
}
