/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/fd.h"
#include "libstart/store/image-cache.h"

/* A file is this header and a GVariant. The length finds files that were cut short, and the magic those of another
 * version, whose numbers must therefore change with FORMAT and with the meaning of anything in it. */
typedef struct Header {
        char magic[8];
        guint64 length;
} Header;

#define MAGIC "keyturn1"

/* Files seen (path, device, inode, size, mtime, ctime), then the fields of StoreImage. */
#define FORMAT "(a(stttxx)ssssassb)"
#define FORMAT_SEEN "a(stttxx)"

/* All that decides the answer, beside files. */
static char *cache_path(const char *run_dir, const char *root, const char *reference) {
        static const char *const variables[] = {
                "CONTAINERS_STORAGE_CONF",
                "CONTAINERS_STORAGE_CONF_OVERRIDE",
                "CONTAINERS_REGISTRIES_CONF",
                "CONTAINERS_REGISTRIES_CONF_OVERRIDE",
        };
        g_autoptr(GString) key = g_string_new(reference);

        g_string_append_printf(key, "\n%s", root);
        for (size_t i = 0; i < G_N_ELEMENTS(variables); i++) {
                const char *value = g_getenv(variables[i]);
                g_string_append_printf(key, "\n%s", value ? value : "");
        }
        g_autofree char *name = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key->str, (gssize) key->len);
        return g_build_filename(run_dir, name, NULL);
}

static GVariant *serialize(const StoreImage *image, const Seen *seen) {
        g_auto(GVariantBuilder) files = G_VARIANT_BUILDER_INIT(G_VARIANT_TYPE(FORMAT_SEEN));

        for (unsigned i = 0; i < seen_count(seen); i++) {
                const FileIdentity *identity = seen_identity(seen, i);

                g_variant_builder_add(&files, "(stttxx)", seen_path(seen, i), identity->device, identity->inode,
                                      identity->size, identity->mtime, identity->ctime);
        }
        return g_variant_ref_sink(g_variant_new("(a(stttxx)ssss^assb)", &files, image->id, image->digest,
                                                image->name, image->store, image->layers, image->config,
                                                image->writable_store));
}

/* Is every file what it was? */
static bool is_current(GVariant *files) {
        GVariantIter iter;
        const char *path;
        FileIdentity identity, now;

        g_variant_iter_init(&iter, files);
        while (g_variant_iter_next(&iter, "(&stttxx)", &path, &identity.device, &identity.inode, &identity.size,
                                   &identity.mtime, &identity.ctime)) {
                now = file_identity_at(path);
                if (memcmp(&now, &identity, sizeof(now)) != 0)
                        return false;
        }
        return true;
}

static GVariant *parse(const char *text, size_t length) {
        const Header *header = (const void *) text;
        g_autoptr(GVariant) variant = NULL;

        if (length <= sizeof(*header) || memcmp(header->magic, MAGIC, sizeof(header->magic)) != 0 ||
            header->length != length)
                return NULL;
        variant = g_variant_ref_sink(g_variant_new_from_data(G_VARIANT_TYPE(FORMAT), text + sizeof(*header),
                                                             length - sizeof(*header), FALSE, NULL, NULL));
        return g_variant_is_normal_form(variant) ? g_steal_pointer(&variant) : NULL;
}

static StoreImage *recall(const char *path) {
        g_autofree char *text = NULL;
        g_autoptr(GVariant) variant = NULL;
        g_autoptr(GVariant) files = NULL;
        g_autoptr(StoreImage) image = g_new0(StoreImage, 1);
        gboolean writable;
        size_t length = 0;

        /* Whatever is wrong with the file, a new search makes it good. */
        if (!file_read(path, NULL, &text, &length, NULL) || !text)
                return NULL;
        variant = parse(text, length);
        if (!variant)
                return NULL;
        files = g_variant_get_child_value(variant, 0);
        if (!is_current(files))
                return NULL;
        g_variant_get(variant, "(@a(stttxx)ssss^assb)", NULL, &image->id, &image->digest, &image->name,
                      &image->store, &image->layers, &image->config, &writable);
        image->writable_store = writable;
        return image->layers[0] ? g_steal_pointer(&image) : NULL;
}

static bool write_all(int fd, const void *data, size_t length) {
        const char *p = data;

        while (length > 0) {
                ssize_t n = write(fd, p, length);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return false;
                p += n;
                length -= (size_t) n;
        }
        return true;
}

/* Under another name first, so that nobody reads half a file; without fsync, since /run ends with the boot. */
static void write_file(const char *path, const Header *header, GVariant *variant) {
        g_autofree char *temporary = g_strdup_printf("%s.%d", path, (int) getpid());
        _cleanup_close_ int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

        if (fd < 0)
                return;
        if (!write_all(fd, header, sizeof(*header)) ||
            !write_all(fd, g_variant_get_data(variant), g_variant_get_size(variant)) ||
            rename(temporary, path) < 0)
                (void) unlink(temporary);
}

static void remember(const char *run_dir, const char *path, const StoreImage *image, const Seen *seen) {
        g_autoptr(GVariant) variant = serialize(image, seen);
        Header header = { .length = sizeof(header) + g_variant_get_size(variant) };

        memcpy(header.magic, MAGIC, sizeof(header.magic));
        (void) g_mkdir_with_parents(run_dir, 0700);
        write_file(path, &header, variant);
}

StoreImage *store_image_find_cached(const char *run_dir, const char *root, const char *reference, GError **error) {
        g_autofree char *path = cache_path(run_dir, root, reference);
        g_autoptr(StoreConf) conf = NULL;
        g_autoptr(Seen) seen = seen_new();
        StoreImage *image = recall(path);

        if (image)
                return image;
        conf = store_conf_load(root, error);
        if (!conf)
                return NULL;
        seen_add_all(seen, conf->seen);
        image = store_image_find(conf, reference, seen, error);
        if (image)
                remember(run_dir, path, image, seen);
        return image;
}
