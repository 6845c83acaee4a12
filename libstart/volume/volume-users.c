/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/volume/podman-record.h"
#include "libstart/volume/volume-users.h"

/* proc_pid_mountinfo(5): ID PARENT DEVICE ROOT POINT and more. */
enum { FIELD_ID, FIELD_DEVICE = 2, FIELD_ROOT, FIELD_POINT, FIELD_REST, N_FIELDS };

/* A directory as mounts of it say it, whoever's: the file system, and the path in there. */
typedef struct Place {
        char *path; /* for this process */
        guint64 mount;
        char *device, *root;
} Place;

static void place_clear(Place *place) {
        g_free(place->path);
        g_free(place->device);
        g_free(place->root);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Place, place_clear)

static bool is_below(const char *path, const char *directory) {
        size_t length = strlen(directory);

        return strncmp(path, directory, length) == 0 && (path[length] == '\0' || path[length] == '/');
}

/* It is not there, or ends. */
static bool has_ended(const char *process, int code) {
        return code == G_FILE_ERROR_NOENT || code == G_FILE_ERROR_INVAL ||
               (kill((pid_t) atoi(process), 0) < 0 && errno == ESRCH);
}

/* *ret: the lines of the mounts that a process sees; NULL where it has none, or has ended. Transfer full. No user may
 * look at others' where /proc has hidepid=1, or SELinux confines her. */
static bool read_mounts(const char *process, char ***ret, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%s/mountinfo", process), *text = NULL;
        g_autoptr(GError) problem = NULL;

        *ret = g_file_get_contents(path, &text, NULL, &problem) ? g_strsplit(text, "\n", -1) : NULL;
        return !problem || has_ended(process, problem->code) ||
               (getuid() != 0 && (problem->code == G_FILE_ERROR_PERM || problem->code == G_FILE_ERROR_ACCES)) ||
               error_set(error, KT_ERROR_FAILED, "Cannot find out what is mounted for process %s: %s", process,
                         problem->message);
}

/* The fields of one; NULL where it has not that many. Transfer full. */
static char **read_mount(const char *line) {
        char **fields = g_strsplit(line, " ", N_FIELDS);

        if (g_strv_length(fields) < N_FIELDS) {
                g_strfreev(fields);
                return NULL;
        }
        for (int i = FIELD_ROOT; i <= FIELD_POINT; i++) { /* "\040" is a blank */
                char *plain = g_strcompress(fields[i]);

                g_free(fields[i]);
                fields[i] = plain;
        }
        return fields;
}

/* What keeps the place from being removed: something is mounted in it. Else the place is known then. */
static bool find_place(Place *place, bool *ret_is_mounted_on) {
        g_auto(GStrv) lines = NULL;

        *ret_is_mounted_on = false;
        (void) read_mounts("self", &lines, NULL);
        for (char **line = lines; line && *line; line++) {
                g_auto(GStrv) mount = read_mount(*line);

                if (!mount)
                        continue;
                if (is_below(mount[FIELD_POINT], place->path))
                        *ret_is_mounted_on = true;
                else if (g_ascii_strtoull(mount[FIELD_ID], NULL, 10) == place->mount) {
                        const char *root = g_str_equal(mount[FIELD_ROOT], "/") ? "" : mount[FIELD_ROOT],
                                   *point = g_str_equal(mount[FIELD_POINT], "/") ? "" : mount[FIELD_POINT];

                        if (!is_below(place->path, point))
                                return false;
                        place->device = g_strdup(mount[FIELD_DEVICE]);
                        place->root = g_strconcat(root, place->path + strlen(point), NULL);
                }
        }
        return place->root || *ret_is_mounted_on;
}

static bool look_into(const char *process, const Place *place, bool *ret_shows, GError **error) {
        g_auto(GStrv) lines = NULL;

        *ret_shows = false;
        if (!read_mounts(process, &lines, error))
                return false;
        for (char **line = lines; line && *line; line++) {
                g_auto(GStrv) mount = read_mount(*line);

                if (mount && g_str_equal(mount[FIELD_DEVICE], place->device) &&
                    is_below(mount[FIELD_ROOT], place->root))
                        *ret_shows = true;
        }
        return true;
}

/* A process for which it, or what is in it, is mounted. Transfer full; NULL: there is none, or there is an error. */
static char *find_user(const Place *place, GError **error) {
        g_auto(GStrv) names = directory_list("/proc", error);
        bool is_shown = false;

        for (char **name = names; name && *name; name++) {
                if (g_ascii_isdigit((*name)[0]) && !look_into(*name, place, &is_shown, error))
                        return NULL;
                if (is_shown)
                        return g_strdup(*name);
        }
        return NULL;
}

static bool look_at(int volume, Place *place, const char *name, GError **error) {
        g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", volume);
        struct statx st;

        place->path = g_file_read_link(link, error);
        if (!place->path)
                return false;
        if (statx(volume, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) < 0 || !(st.stx_mask & STATX_MNT_ID))
                return error_set(error, KT_ERROR_FAILED, "Cannot find out where the volume '%s' is mounted", name);
        place->mount = st.stx_mnt_id;
        return true;
}

char *volume_find_user(int volume, const char *name, GError **error) {
        g_auto(Place) place = { 0 };
        g_autofree char *user = NULL;
        bool is_mounted_on, is_podmans;

        if (!podman_record_find(name, &is_podmans, error))
                return NULL;
        if (is_podmans)
                return g_strdup(getuid() == 0 ?
                                        "a container of Podman's uses it" : /* else it is out of there by now */
                                        "Podman has it in its database, for a container perhaps: podman volume "
                                        "rm removes it");
        if (!look_at(volume, &place, name, error))
                return NULL;
        if (!find_place(&place, &is_mounted_on))
                return error_null(error, KT_ERROR_FAILED, "Cannot find out where the volume '%s' is mounted", name);
        if (is_mounted_on)
                return g_strdup("something is mounted in it");
        user = find_user(&place, error);
        return user ? g_strdup_printf("process %s uses it", user) : NULL;
}
