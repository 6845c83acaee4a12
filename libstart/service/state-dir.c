/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/service/stale-state.h"
#include "libstart/service/state-dir.h"

/* systemd would take the directory for its own, and remove it with what is in it. */
static bool is_a_services(const char *name) {
        static const char *const directories[] = { "/run/systemd/generator", "/run/systemd/generator.early" };
        bool found = false;

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *unit = g_strdup_printf("%s/%s.service", directories[i], name);

                found |= access(unit, F_OK) == 0;
        }
        return found;
}

/* Held until libstart ends, by its children until they execute the payload: whoever has it is alone with the
 * directory. When it is free, the state that libcrun keeps tells whether the container runs. Not a lock on `path`,
 * which any user of the machine could take. */
static bool lock(StateDir *state_dir, GError **error) {
        state_dir->lock = open(state_dir->private_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (state_dir->lock >= 0 && flock(state_dir->lock, LOCK_EX | LOCK_NB) == 0)
                return true;
        if (errno != EWOULDBLOCK) {
                error_set_errno(error, errno, "Cannot use '%s' for the container's state", state_dir->path);
                fd_close(&state_dir->lock);
                return false;
        }
        return error_set(
                error, KT_ERROR_FAILED,
                "'%s' belongs to a container that runs or is being started: stop it, or choose another --name",
                state_dir->path);
}

/* Whoever removes such a directory may have been stopped half-way: libcrun's part of it counts as well. */
static bool make_private(const StateDir *state_dir, const char *name, bool *ret_fresh, GError **error) {
        g_autofree char *state = g_build_filename(state_dir->path, name, NULL);

        *ret_fresh = mkdir(state_dir->private_path, 0700) == 0;
        if (!*ret_fresh && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot use '%s' for the container's state", state_dir->path);
        *ret_fresh = *ret_fresh && access(state, F_OK) < 0;
        return true;
}

/* What keyturn's own services have beside the containers' directories. */
static bool is_reserved(const char *name) {
        static const char *const names[] = { NAME_SECCOMP, NAME_RELAY, NAME_NETWORK, NAME_POD,
                                             NAME_USERNS,  NAME_CDI,   NAME_KUBE,    NULL };

        return g_strv_contains(names, name);
}

/* What a start has made before it failed. Never what is another's, which is not empty. */
static void remove_unused(const StateDir *state_dir, bool fresh) {
        if (fresh && state_dir->lock < 0)
                (void) rmdir(state_dir->private_path);
        (void) rmdir(state_dir->path);
}

static bool prepare(StateDir *state_dir, const char *name, bool is_own, GError **error) {
        bool fresh = false;

        if (directory_make(state_dir->path, 0755, error) && make_private(state_dir, name, &fresh, error) &&
            lock(state_dir, error) &&
            (fresh || stale_state_clear(state_dir->path, state_dir->private_path, name, error)))
                return true;
        if (is_own)
                remove_unused(state_dir, fresh);
        return false;
}

/* The way to it as systemd names it leads through $XDG_RUNTIME_DIR, which a root with other ids than the user's
 * cannot pass. In the view there is another. Which ids a pod's namespace has is not known yet. Transfer full. */
static char *find_path(const ContainerRequest *request) {
        const char *path = request->state_dir;
        g_autofree char *base = g_path_get_basename(path ?: request->name);
        g_autofree char *shown = g_build_filename(PATH_RUN, base, NULL);

        return !path || (user_view_is_entered() && request->userns.mode != USERNS_HOST &&
                         g_file_test(shown, G_FILE_TEST_IS_DIR)) ?
                       g_steal_pointer(&shown) :
                       g_strdup(path);
}

bool state_dir_make(const ContainerRequest *request, StateDir *ret, GError **error) {
        const char *path = request->state_dir, *name = request->name;

        if (!path && is_reserved(name))
                return error_set(error, KT_ERROR_FAILED,
                                 "'" PATH_RUN "/%s' is keyturn's own: choose another --name, or say --state-dir",
                                 name);
        if (!path && is_a_services(name))
                return error_set(error, KT_ERROR_FAILED,
                                 "%s.service is a container, and '" PATH_RUN "/%s' is its directory: choose another "
                                 "--name, or say --state-dir",
                                 name, name);
        ret->path = find_path(request);
        ret->private_path = g_build_filename(ret->path, ".private", NULL);
        if (!prepare(ret, name, !path, error))
                return false;
        ret->own = !path;
        return true;
}

void state_dir_discard(StateDir *state_dir) {
        /* Twice: nobody else removes it, and a call that failed once need not fail again. */
        if (state_dir->own && !directory_remove_tree(state_dir->path) && !directory_remove_tree(state_dir->path))
                log_warning("Cannot remove '%s': %s", state_dir->path, g_strerror(errno));
        state_dir->own = false;
}

void state_dir_clear(StateDir *state_dir) {
        g_free(state_dir->path);
        g_free(state_dir->private_path);
        fd_closep(&state_dir->lock);
}
