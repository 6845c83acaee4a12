/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/image/artifact.h"
#include "libstart/image/notes.h"
#include "libstart/image/pull.h"
#include "libstart/image/unsynced.h"
#include "libstart/store/artifact.h"

/* skopeo writes the index anew, and of two at a time one would be lost. Podman has this lock for that, but takes it
 * itself. Returns a descriptor, or -1 with an error. */
static int lock_store(const char *directory, GError **error) {
        g_autofree char *path = g_build_filename(directory, "index.lock", NULL);
        struct flock whole = { .l_type = F_WRLCK };
        _cleanup_close_ int fd = -1;
        int r = -1;

        if (g_mkdir_with_parents(directory, 0700) == 0)
                fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        while (fd >= 0 && (r = fcntl(fd, F_OFD_SETLKW, &whole)) < 0 && errno == EINTR)
                continue;
        if (r < 0)
                error_set_errno(error, errno, "Cannot lock '%s'", path);
        return r < 0 ? -1 : fd_steal(&fd);
}

static bool is_there(const char *name) {
        g_autoptr(GPtrArray) files = store_artifact_find("", name, NULL, NULL);

        return files;
}

static bool pull(const PullRequest *request, const char *name, GError **error) {
        bool by_podman = pull_is_by_podman(request);
        _cleanup_close_ int store = by_podman ? -1 : lock_store(request->artifacts, error);

        return (by_podman || store >= 0) && image_pull_name(request, name, error);
}

bool artifact_pull(PullRequest *request, GError **error) {
        g_autoptr(ShortNames) names = NULL;
        g_autofree char *name = NULL;
        _cleanup_close_ int lock = -1;

        request->artifacts = store_artifact_directory("", error);
        names = request->artifacts ? short_names_load("", error) : NULL;
        name = names ? pull_find_name(request->reference, names, error) : NULL;
        lock = name ? image_lock(request->artifacts, error) : -1;
        if (lock < 0)
                return false;
        if (is_there(name)) {
                log_info("Artifact '%s' is there", name);
                unsynced_settle(name);
                return true;
        }
        return pull(request, name, error);
}
