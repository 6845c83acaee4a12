/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/image/remote.h"
#include "libstart/base/error.h"
#include "libstart/image/tool.h"

char *image_remote_digest(const PullRequest *request, const char *name, GError **error) {
        g_autoptr(GPtrArray) words = inspect_words(request, name);
        g_autofree char *manifest = NULL, *hash = NULL;
        gsize length;

        if (!tool_is_there("skopeo")) {
                error_set(error, KT_ERROR_FAILED, "skopeo is not installed, which looks what a registry has");
                return NULL;
        }
        manifest = tool_read(words, &length, error);
        if (!manifest)
                return NULL;
        hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *) manifest, length);
        return g_strconcat("sha256:", hash, NULL);
}
