/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/json/visit.h"

/* What is needed of an image's documents, OCI or Docker (manifest schema 2): the chain
 * manifest list -> manifest -> configuration -> layers. Pure. */

/* The digest of what this document leads to: of the configuration if it is a manifest, and then
 * *ret_is_list is false; of the manifest for a platform if it is a list of manifests. architecture: as in
 * Go ("amd64", "arm64", "arm"); see manifest_architecture(). The system is always linux. Fails with
 * KT_ERROR_UNSUPPORTED for Docker's schema 1, KT_ERROR_NOT_FOUND where a list has nothing for this
 * platform (with the platforms it has), KT_ERROR_FAILED for anything else. Transfer full. */
char *manifest_parse(const char *text, size_t length, const char *architecture, bool *ret_is_list, GError **error);

/* Does it lead to a configuration in Docker's format? */
bool manifest_is_docker(const char *text, size_t length);

/* The architecture that this program was compiled for. */
const char *manifest_architecture(void);

/* From an image's configuration: the digests of the uncompressed layers, lowermost first, at least one.
 * *ret_history: the elements of its "history", a part of `text`; empty where it has none. Fails with
 * KT_ERROR_UNSUPPORTED for one without layers, KT_ERROR_FAILED for anything else. Transfer full. */
char **config_parse_diff_ids(const char *text, size_t length, TextRange *ret_history, GError **error);

/* The id that containers-storage gives each layer, lowermost first: the digest of the lowermost, then
 * that of the id below, "+" and the layer's digest, in hexadecimal digits. Layers that were pulled in
 * parts (zstd:chunked) have ids that cannot be computed. diff_ids: as config_parse_diff_ids() returns them.
 * Transfer full. */
char **layer_chain_ids(char *const *diff_ids);

/* Is it "sha256:" and 64 lower-case hexadecimal digits: the one kind of digest that stores use? */
bool digest_is_valid(const char *digest);

/* Is it 64 lower-case hexadecimal digits: the id of an image or of a layer? */
bool id_is_valid(const char *id);

/* "sha256:..." for an id. Transfer full. */
char *digest_from_id(const char *id);

/* The digest of some bytes. Transfer full. */
char *digest_compute(const char *text, size_t length);
