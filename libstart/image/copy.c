/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/image/copy.h"
#include "libstart/image/notes.h"
#include "libstart/image/tool-words.h"
#include "libstart/image/tool.h"

static void empty(const char *directory) {
        g_autoptr(GPtrArray) words = tool_words("rm", "-rf", "--", directory, NULL);
        g_autoptr(GError) error = NULL;

        if (rmdir(directory) == 0 || errno == ENOENT) /* whoever has not been killed has left nothing */
                return;
        if (!tool_run(words, "Removing what was pulled", /* has_deadline= */ false, &error))
                log_warning("'%s' cannot be removed: %s", directory, error->message);
}

bool copy_run(GPtrArray *words, bool podman, const char *name, const char *what, GError **error) {
        g_autofree char *directory = image_path(PATH_PULLING, name);
        bool ok;

        empty(directory);
        if (g_mkdir_with_parents(directory, 0700) < 0)
                return error_set_errno(error, errno, "Cannot make '%s'", directory);
        if (podman)
                g_setenv("TMPDIR", directory, /* overwrite= */ true);
        else
                g_ptr_array_insert(words, 1, g_strconcat("--tmpdir=", directory, NULL));
        ok = tool_run(words, what, /* has_deadline= */ true, error);
        empty(directory);
        return ok;
}

void copy_forget(const char *name) {
        g_autofree char *directory = image_path(PATH_PULLING, name);

        empty(directory);
}
