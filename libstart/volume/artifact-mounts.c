/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/request/mount-request.h"
#include "libstart/store/artifact.h"
#include "libstart/volume/artifact-mounts.h"

/* Those of the artifact's that are asked for. The array alone is the caller's. */
static GPtrArray *choose(const Artifact *artifact, const MountRequest *request, GError **error) {
        g_autoptr(GPtrArray) chosen = g_ptr_array_new();

        for (guint i = 0; i < artifact->len; i++) {
                const ArtifactBlob *blob = artifact->pdata[i];

                if ((!request->title || g_strcmp0(blob->title, request->title) == 0) &&
                    (!request->digest || g_str_equal(blob->digest, request->digest)))
                        g_ptr_array_add(chosen, (void *) blob);
        }
        if (chosen->len == 0 || (chosen->len > 1 && (request->title || request->digest)))
                return error_null(error, KT_ERROR_NOT_FOUND, "%s of its files has the %s '%s'",
                                  chosen->len ? "more than one" : "none", request->title ? "title" : "digest",
                                  request->title ?: request->digest);
        return g_steal_pointer(&chosen);
}

/* "sha256-…", where there is no title, or where the file was asked for by its digest. Transfer full. */
static char *file_name(const MountRequest *request, const ArtifactBlob *blob, guint number, guint n) {
        char *name;

        if (request->file_name)
                return n > 1 ? g_strdup_printf("%s-%u", request->file_name, number) : g_strdup(request->file_name);
        if (blob->title && !request->digest)
                return g_strdup(blob->title);
        name = g_strdup(blob->digest);
        *strchr(name, ':') = '-';
        return name;
}

static MountRequest *make_mount(const MountRequest *request, const ArtifactBlob *blob, const char *below) {
        MountRequest *mount = mount_request_new(MOUNT_ARTIFACT);

        mount->source = g_strdup(blob->path);
        mount->destination = below ? g_build_filename(request->destination, below, NULL) :
                                     g_strdup(request->destination);
        for (guint i = 0; i < request->options->len; i++)
                g_ptr_array_add(mount->options, g_strdup(request->options->pdata[i]));
        return mount;
}

/* Do the files lie below the destination, or is the only one the destination itself? */
static bool find_place(const MountRequest *request, int root_fd, guint n, bool *ret_below, GError **error) {
        _cleanup_close_ int fd = resolve_open(root_fd, request->destination, O_PATH, 0,
                                              RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        bool is_there = fd >= 0, is_directory = false;
        struct stat st;

        if (is_there && fstat(fd, &st) == 0)
                is_directory = S_ISDIR(st.st_mode);
        *ret_below = is_directory || (n > 1 && !is_there);
        return n == 1 || *ret_below ||
               error_set(error, KT_ERROR_USAGE,
                         "it has %u files, and the destination is one in the image: choose another place, or one of "
                         "them by title= or digest=",
                         n);
}

static bool add_mount(GPtrArray *mounts, guint at, GHashTable *names, const MountRequest *request,
                      const ArtifactBlob *blob, char *name, GError **error) {
        if (name && !g_hash_table_add(names, name))
                return error_set(error, KT_ERROR_FAILED,
                                 "two of its files are called '%s': choose one by digest=", name);
        g_ptr_array_insert(mounts, (int) at, make_mount(request, blob, name));
        return true;
}

static bool expand(const MountRequest *request, int root_fd, const GPtrArray *stores, GPtrArray *mounts, guint at,
                   GError **error) {
        g_autoptr(GPtrArray) artifact = store_artifact_find("", request->source, stores, error);
        g_autoptr(GPtrArray) chosen = NULL;
        g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        bool below, ok;

        if (!artifact)
                return false;
        chosen = choose(artifact, request, error);
        ok = chosen && find_place(request, root_fd, chosen->len, &below, error);
        for (guint i = 0; ok && i < chosen->len; i++) {
                char *name = below ? file_name(request, chosen->pdata[i], i, chosen->len) : NULL;

                ok = add_mount(mounts, at + i, names, request, chosen->pdata[i], name, error);
        }
        return ok || error_prefix(error, "Cannot mount artifact '%s' on the container's '%s': ", request->source,
                                  request->destination);
}

bool artifact_mounts_expand(GPtrArray *mounts, int root_fd, const GPtrArray *stores, GError **error) {
        for (guint i = mounts->len; i-- > 0;) {
                g_autoptr(MountRequest) request = NULL;

                if (((MountRequest *) mounts->pdata[i])->type != MOUNT_ARTIFACT)
                        continue;
                request = g_ptr_array_steal_index(mounts, i);
                if (!expand(request, root_fd, stores, mounts, i, error))
                        return false;
        }
        return true;
}
