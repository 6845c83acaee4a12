/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/seccomp/target.h"

/* A filter that was compiled ahead, as bytes: the header that its writer (seccomp-precompile, or libstart
 * after it had to compile one itself) and its reader (libstart) share. Pure; cache-file.h has the files.
 *
 * The name of a file is its key in hexadecimal digits and ".bpf". The key is the SHA-256 of what the
 * reader knows without opening anything: format, keyturn's and libseccomp's versions, architecture,
 * bounding set, and which profile was asked for ("default" or a path). Whether that profile is still the
 * one that was compiled is then told by `sources` (the usual way: a few stat(2), nothing read) or by
 * `content` (filters that came with the system image, where inode numbers and times say nothing). The
 * digest is against accidents; against malice there is the owner of the file. */

#define SECCOMP_CACHE_FORMAT 2
#define SECCOMP_DIGEST_SIZE 32
#define SECCOMP_CACHE_NAME_SIZE (2 * SECCOMP_DIGEST_SIZE + sizeof ".bpf")

/* No file is larger: header, the longest path, the longest filter. */
#define SECCOMP_CACHE_MAX_BYTES (168 + 4096 + 4096 * 8)

/* What a filter is looked up by. */
typedef struct SeccompCacheKey {
        const char *profile; /* borrowed; NULL: the default one */
        SeccompTarget target;
        guint8 digest[SECCOMP_DIGEST_SIZE];
        char name[SECCOMP_CACHE_NAME_SIZE]; /* of the file */
} SeccompCacheKey;

/* target: copied. Fills in digest and name. */
void seccomp_cache_key_init(SeccompCacheKey *key, const char *profile, const SeccompTarget *target);

/* How a file begins. Then comes the absolute path of the profile, filled up with 0 to a multiple of 8, and the
 * filter: struct sock_filter[]. All numbers are in the order of bytes of the machine, which `arch` belongs to;
 * nothing in it is padding. */
typedef struct SeccompCacheHeader {
        char magic[8];                   /* "KTSECCMP" */
        guint32 format;                  /* SECCOMP_CACHE_FORMAT */
        guint32 arch;                    /* libseccomp's token of the architecture */
        guint64 bounding_caps;           /* bit n is capability number n */
        guint32 kernel;                  /* major << 16 | minor if the profile has a minKernel, else 0: any */
        guint32 path_length;             /* bytes of the path, without padding */
        guint32 filter_length;           /* bytes of the filter, a multiple of 8, at most 4096 * 8 (BPF_MAXINSNS) */
        guint32 zero;                    /* 0 */
        guint8 key[SECCOMP_DIGEST_SIZE]; /* SHA-256, see above */
        guint8 sources[SECCOMP_DIGEST_SIZE]; /* SHA-256 of the state of its files (obtain.c); 0 if not recorded */
        guint8 content[SECCOMP_DIGEST_SIZE]; /* SHA-256 of the profile's text */
        guint8 digest[SECCOMP_DIGEST_SIZE];  /* MD5 of the whole file with these bytes 0, then 0 */
} SeccompCacheHeader;

typedef struct SeccompCacheEntry {
        SeccompCacheHeader header; /* of which seccomp_cache_encode() makes magic, format, lengths and digest */
        char *path;                /* of the profile, inside root */
        GBytes *filter;            /* struct sock_filter[] */
} SeccompCacheEntry;

void seccomp_cache_entry_free(SeccompCacheEntry *entry);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SeccompCacheEntry, seccomp_cache_entry_free)

/* The bytes of a file. Transfer full. */
GBytes *seccomp_cache_encode(const SeccompCacheEntry *entry);

/* Trusts nothing. The filter is a copy. Fails with KT_ERROR_FAILED. Transfer full. */
SeccompCacheEntry *seccomp_cache_decode(const void *data, gsize length, GError **error);

/* Is this the filter for that key, on that kernel? If not, KT_ERROR_FAILED says whose it is. */
bool seccomp_cache_check_key(const SeccompCacheEntry *entry, const SeccompCacheKey *key, GError **error);
