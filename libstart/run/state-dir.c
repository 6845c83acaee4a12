/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/run/state-dir.h"

/* Directories that nftw(3) keeps open at a time; it opens others anew. */
#define MAX_OPEN 16

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

bool state_dir_make(const char *path, const char *name, StateDir *ret, GError **error) {
        if (!path && is_a_services(name))
                return error_set(error, KT_ERROR_FAILED,
                                 "%s.service is a container, and '" PATH_RUN "/%s' is its directory: choose another "
                                 "--name, or say --state-dir",
                                 name, name);
        ret->path = path ? g_strdup(path) : g_build_filename(PATH_RUN, name, NULL);
        ret->private_path = g_build_filename(ret->path, ".private", NULL);
        if (mkdir(ret->path, 0755) < 0 && errno == ENOENT)
                g_mkdir_with_parents(ret->path, 0755);
        if (mkdir(ret->private_path, 0700) == 0) {
                ret->own = !path;
                return true;
        }
        if (errno != EEXIST)
                return error_set_errno(error, errno, "Cannot use '%s' for the container's state", ret->path);
        return error_set(error, KT_ERROR_FAILED,
                         "'%s' belongs to a container that runs, or ran without systemd to clean up: remove it, or "
                         "choose another --name",
                         ret->path);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where) {
        return type == FTW_DP ? rmdir(path) : unlink(path);
}

void state_dir_discard(StateDir *state_dir) {
        if (state_dir->own && nftw(state_dir->path, remove_entry, MAX_OPEN, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) != 0)
                log_warning("Cannot remove '%s': %s", state_dir->path, g_strerror(errno));
        state_dir->own = false;
}

void state_dir_clear(StateDir *state_dir) {
        g_free(state_dir->path);
        g_free(state_dir->private_path);
}
