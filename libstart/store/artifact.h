/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* OCI artifacts: files that a registry keeps like images. Podman has them in an OCI layout below its image store
 * (artifacts/index.json, artifacts/blobs/sha256), see podman-artifact(1). It is only read. */

typedef struct ArtifactBlob {
        char *path;   /* on the host: a regular file */
        goffset size; /* in bytes */
        char *digest; /* "sha256:" and 64 hexadecimal digits */
        char *title;  /* the annotation org.opencontainers.image.title: a file's name, which whoever has made the
                       * artifact chose; NULL for none. "", ".", "..", '/' and control characters are refused */
} ArtifactBlob;

/* What is below an artifact's manifest, at least one. of ArtifactBlob. */
typedef GPtrArray Artifact;

/* name: as a registry has it, where ":latest" may be left out, or the manifest's digest, or twelve and more of its
 * first digits. stores: additional image stores, or NULL. Fails with KT_ERROR_NO_IMAGE where no store has it, and
 * with KT_ERROR_FAILED for what is damaged or incomplete. root: "" or a directory that stands for /. Transfer full.
 */
Artifact *store_artifact_find(const char *root, const char *name, const GPtrArray *stores, GError **error);

/* Of one such directory, without a look at the files. *ret is NULL where that has not got it. */
bool store_artifact_read(const char *directory, const char *name, Artifact **ret, GError **error);

/* Is its file there, and as large as it should be? A power cut leaves it empty, or a part of it. */
bool artifact_blob_is_whole(const ArtifactBlob *blob);

/* Podman's directory of artifacts, which need not exist. Transfer full; NULL with an error. */
char *store_artifact_directory(const char *root, GError **error);

/* The digest of the manifest that `name` means in an index; KT_ERROR_NOT_FOUND where it means none. Transfer full.
 * Pure. */
char *artifact_index_find(const char *text, size_t length, const char *name, GError **error);

/* The blobs that a manifest names; their paths are below `blobs`. Transfer full. Pure. */
Artifact *artifact_manifest_parse(const char *text, size_t length, const char *blobs, GError **error);
