/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/artifact.h"
#include "libstart/store/manifest.h"
#include "tests/fuzz/fuzz.h"

/* What a registry has sent becomes paths of the host, and names in a container. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL, problem = NULL;
        g_autoptr(GPtrArray) artifact = artifact_manifest_parse((const char *) data, size, "/blobs", &error);
        g_autofree char *digest = artifact_index_find((const char *) data, size, "a/b:1", &problem);

        require_error(artifact, error, text);
        require_error(digest, problem, text);
        require(!digest || digest_is_valid(digest), "'%s' is no digest", digest);
        for (guint i = 0; artifact && i < artifact->len; i++) {
                const ArtifactBlob *blob = artifact->pdata[i];
                const char *title = blob->title ?: "x";

                require(digest_is_valid(blob->digest), "'%s' is no digest", blob->digest);
                require(g_str_has_suffix(blob->path, blob->digest + strlen("sha256:")), "'%s' is elsewhere",
                        blob->path);
                require(*title && !strchr(title, '/') && !g_str_equal(title, ".."), "'%s' leads away", title);
                require(blob->size >= 0, "a size of %d", (int) blob->size);
        }
        return 0;
}
