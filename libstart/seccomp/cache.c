/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/request/seccomp-request.h"
#include "libstart/seccomp/cache.h"

#define MAGIC "KTSECCMP"
#define PATH_MAX_BYTES 4095

typedef SeccompCacheHeader Header;

G_STATIC_ASSERT(sizeof(Header) == 168);
G_STATIC_ASSERT(sizeof(struct sock_filter) == 8);
G_STATIC_ASSERT(sizeof(Header) + PATH_MAX_BYTES + 1 + BPF_MAXINSNS * sizeof(struct sock_filter) ==
                SECCOMP_CACHE_MAX_BYTES);

static size_t pad(size_t length) {
        return (length + 7) & ~(size_t) 7;
}

static void finish(GChecksum *checksum, guint8 ret[SECCOMP_DIGEST_SIZE]) {
        gsize size = SECCOMP_DIGEST_SIZE;

        g_checksum_get_digest(checksum, ret, &size);
}

void seccomp_cache_key_init(SeccompCacheKey *key, const char *profile, const SeccompTarget *target) {
        const struct scmp_version *version = seccomp_version();
        const char *asked = profile ? profile : SECCOMP_REQUEST_DEFAULT;
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
        g_autofree char *text = g_strdup_printf("keyturn " KEYTURN_VERSION
                                                " format %d libseccomp %u.%u.%u arch %08x caps %016" G_GINT64_MODIFIER
                                                "x profile %s",
                                                SECCOMP_CACHE_FORMAT, version->major, version->minor, version->micro,
                                                target->arch, target->bounding_caps, asked);

        *key = (SeccompCacheKey) { .profile = profile, .target = *target };
        g_checksum_update(checksum, (const guchar *) text, (gssize) strlen(text));
        finish(checksum, key->digest);
        g_snprintf(key->name, sizeof key->name, "%s.bpf", g_checksum_get_string(checksum));
}

void seccomp_cache_entry_free(SeccompCacheEntry *entry) {
        g_clear_pointer(&entry->filter, g_bytes_unref);
        g_free(entry->path);
        g_free(entry);
}

/* Of the whole file, as if its digest were zeros. MD5, because it is to find accidents, and a start waits for it: an
 * eighth of the instructions that SHA-256 takes in GLib. */
static void calculate_digest(const Header *header, const void *rest, gsize length, guint8 ret[SECCOMP_DIGEST_SIZE]) {
        g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_MD5);
        Header blank = *header;

        memset(blank.digest, 0, sizeof blank.digest);
        g_checksum_update(checksum, (const guchar *) &blank, sizeof blank);
        g_checksum_update(checksum, rest, (gssize) length);
        memset(ret, 0, SECCOMP_DIGEST_SIZE);
        finish(checksum, ret);
}

GBytes *seccomp_cache_encode(const SeccompCacheEntry *entry) {
        gsize path_length = strlen(entry->path), filter_length;
        const void *filter = g_bytes_get_data(entry->filter, &filter_length);
        gsize length = pad(path_length) + filter_length;
        Header header = entry->header;

        memcpy(header.magic, MAGIC, sizeof header.magic);
        header.format = SECCOMP_CACHE_FORMAT;
        header.path_length = (guint32) path_length;
        header.filter_length = (guint32) filter_length;
        char *file = g_malloc0(sizeof header + length), *rest = file + sizeof header;
        memcpy(rest, entry->path, path_length);
        memcpy(rest + pad(path_length), filter, filter_length);
        calculate_digest(&header, rest, length, header.digest);
        memcpy(file, &header, sizeof header);
        return g_bytes_new_take(file, sizeof header + length);
}

/* Sizes first: nothing behind the header is looked at before they are known to be right. */
static bool check_sizes(const Header *header, gsize length, GError **error) {
        if (header->path_length == 0 || header->path_length > PATH_MAX_BYTES)
                return error_set(error, KT_ERROR_FAILED, "the profile's path has %u bytes", header->path_length);
        if (header->filter_length == 0 || header->filter_length % sizeof(struct sock_filter) != 0 ||
            header->filter_length > BPF_MAXINSNS * sizeof(struct sock_filter))
                return error_set(error, KT_ERROR_FAILED, "the filter has %u bytes", header->filter_length);
        if (length != sizeof *header + pad(header->path_length) + header->filter_length)
                return error_set(error, KT_ERROR_FAILED, "the file has %zu bytes instead of %zu", length,
                                 sizeof *header + pad(header->path_length) + header->filter_length);
        return true;
}

static bool check_path(const char *path, size_t length, GError **error) {
        if (path[0] != '/' || memchr(path, '\0', length))
                return error_set(error, KT_ERROR_FAILED, "the profile's path is none");
        for (size_t i = length; i < pad(length); i++)
                if (path[i])
                        return error_set(error, KT_ERROR_FAILED, "there is something behind the profile's path");
        return true;
}

static bool check_header(const Header *header, GError **error) {
        if (memcmp(header->magic, MAGIC, sizeof header->magic) != 0)
                return error_set(error, KT_ERROR_FAILED, "not a filter of keyturn's");
        if (header->format != SECCOMP_CACHE_FORMAT)
                return error_set(error, KT_ERROR_FAILED, "format %u instead of %d", header->format,
                                 SECCOMP_CACHE_FORMAT);
        return header->zero == 0 || error_set(error, KT_ERROR_FAILED, "a field without meaning is not 0");
}

SeccompCacheEntry *seccomp_cache_decode(const void *data, gsize length, GError **error) {
        const char *rest = (const char *) data + sizeof(Header);
        guint8 digest[SECCOMP_DIGEST_SIZE];
        Header header;

        if (length < sizeof header)
                return error_null(error, KT_ERROR_FAILED, "only %zu bytes", length);
        memcpy(&header, data, sizeof header);
        if (!check_header(&header, error) || !check_sizes(&header, length, error))
                return NULL;
        calculate_digest(&header, rest, length - sizeof header, digest);
        if (memcmp(digest, header.digest, sizeof digest) != 0)
                return error_null(error, KT_ERROR_FAILED, "its digest is wrong: the file is damaged");
        if (!check_path(rest, header.path_length, error))
                return NULL;
        SeccompCacheEntry *entry = g_new0(SeccompCacheEntry, 1);
        entry->header = header;
        entry->path = g_strndup(rest, header.path_length);
        entry->filter = g_bytes_new(rest + pad(header.path_length), header.filter_length);
        return entry;
}

bool seccomp_cache_check_key(const SeccompCacheEntry *entry, const SeccompCacheKey *key, GError **error) {
        if (memcmp(entry->header.key, key->digest, sizeof entry->header.key) != 0 ||
            entry->header.arch != key->target.arch || entry->header.bounding_caps != key->target.bounding_caps)
                return error_set(error, KT_ERROR_FAILED, "it is another container's filter");
        if (key->profile && !g_str_equal(entry->path, key->profile))
                return error_set(error, KT_ERROR_FAILED, "it is the filter of '%s'", entry->path);
        if (entry->header.kernel && entry->header.kernel != key->target.kernel)
                return error_set(error, KT_ERROR_FAILED, "it was made for kernel %u.%u", entry->header.kernel >> 16,
                                 entry->header.kernel & 0xffff);
        return true;
}
