/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/runtime/runtime.h"
#include "libstart/service/payload-notify.h"
#include "libstart/service/stale-state.h"

/* The threat: what a payload wrote, where it lies in a directory that is to be used anew. Versions of keyturn before
 * the writable layer was a file system of its own had it there, and it can be deeper and wider than any program can
 * remove. So no directory is walked: only files of known names are removed, and what else is in the way is put aside
 * as it is. It then takes memory until the next boot, but keeps no container from starting, and systemd does not come
 * across it. */

/* Is that what libcrun writes? What a user has there for a volume may be anything. */
static bool has_status(const char *path, const char *id) {
        g_autofree char *file = g_build_filename(path, id, "status", NULL);
        struct stat st;

        return lstat(file, &st) == 0 && S_ISREG(st.st_mode);
}

static bool check_stopped(const char *path, GError **error) {
        g_auto(GStrv) names = directory_list(path, error);

        for (char **name = names; name && *name; name++)
                if (**name != '.' && has_status(path, *name) && runtime_is_running(path, *name))
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "'%s' belongs to the container '%s', which runs: stop it, or choose another --name",
                                path, *name);
        return names;
}

static void remove_state(const char *path) {
        static const char *const files[] = { "status", "status.tmp", "config.json", "seccomp.bpf" };

        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *file = g_build_filename(path, files[i], NULL);

                unlink(file);
        }
        rmdir(path);
}

/* Renames `from`, if it is there, to `as` in the directory *aside. The first call makes that: for root alone, and
 * beside `path`, where systemd does not remove it. */
static bool put_aside(const char *path, const char *from, const char *as, char **aside, GError **error) {
        g_autofree char *to = NULL;

        if (faccessat(AT_FDCWD, from, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
                return true;
        if (!*aside) {
                g_autofree char *parent = g_path_get_dirname(path), *base = g_path_get_basename(path);
                g_autofree char *pattern = g_strdup_printf("%s/.left-over-%s-XXXXXX", parent, base);

                if (!g_mkdtemp(pattern))
                        return error_set_errno(error, errno, "Cannot make '%s'", pattern);
                *aside = g_steal_pointer(&pattern);
        }
        to = g_build_filename(*aside, as, NULL);
        return rename(from, to) == 0 ||
               error_set_errno(error, errno, "Cannot put aside '%s', which an earlier container has left; remove it",
                               from);
}

bool stale_state_clear(const char *path, const char *private_path, const char *name, GError **error) {
        g_autofree char *state = g_build_filename(path, name, NULL), *aside = NULL;
        g_autofree char *notify = payload_notify_path(private_path),
                        *upper = g_build_filename(private_path, "upper", NULL),
                        *work = g_build_filename(private_path, "work", NULL);

        if (!check_stopped(path, error))
                return false;
        remove_state(state);
        unlink(notify); /* no socket can be bound where one is */
        /* Not by the container's name, which may be one of the other two. */
        if (!put_aside(path, state, "state", &aside, error) || !put_aside(path, upper, "upper", &aside, error) ||
            !put_aside(path, work, "work", &aside, error))
                return false;
        if (aside)
                log_warning("'%s' had files of an earlier container; they are in '%s' until the next boot", path,
                            aside);
        else
                log_notice("'%s' was left by an earlier container, which does not run any more", path);
        return true;
}
