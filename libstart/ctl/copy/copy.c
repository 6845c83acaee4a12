/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/resolve.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/ctl/copy/commands.h"
#include "libstart/ctl/copy/transfer.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/value/id-map.h"
#include "libstart/value/size.h"

/* keyturnctl cp. What a path of the container means is what it means to the payload: its links are followed there,
 * none of them leads out, and none of /proc's into other processes. From the directory that is found on, transfer.c
 * goes by descriptors. A path of the host is the caller's, and followed as usual. */

#define LIMIT_DEFAULT (G_GUINT64_CONSTANT(1) << 30)

/* Where something is, or is to be. */
typedef struct Place {
        int root;         /* the container's; -1: the host */
        const char *path; /* borrowed */
        UserNamespace userns;
        uid_t uid; /* whom files belong to that are made there */
        gid_t gid;
} Place;

static void place_clear(Place *place) {
        fd_closep(&place->root);
        user_namespace_clear(&place->userns);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Place, place_clear)

#define PLACE_NULL { .root = -1, .userns = USER_NAMESPACE_NULL }

/* NULL where every id is itself, also under a kernel without user namespaces. */
static bool read_map(const ContainerUnit *container, const char *name, GArray **ret, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%u/%s", container->pid, name), *text = NULL;
        g_autoptr(GArray) map = id_map_new();
        unsigned inside, outside, count;
        int n;

        if (access("/proc/self/uid_map", F_OK) < 0 && errno == ENOENT)
                return true;
        if (!g_file_get_contents(path, &text, NULL, error))
                return false;
        for (const char *line = text; sscanf(line, "%u %u %u%n", &inside, &outside, &count, &n) == 3; line += n)
                g_array_append_val(map, ((IdExtent) { inside, outside, count }));
        *ret = id_map_is_identity(map) ? NULL : g_steal_pointer(&map);
        return true;
}

/* New files are the payload's, as with podman. */
static bool read_owner(const ContainerUnit *container, int payload, Place *place, GError **error) {
        libcrun_container_t *config = payload_read_config(container, error);
        g_autoptr(GError) problem = NULL;

        if (!config)
                return false;
        if (read_map(container, "uid_map", &place->userns.uids, &problem))
                (void) read_map(container, "gid_map", &place->userns.gids, &problem);
        place->uid = user_namespace_uid(&place->userns, config->container_def->process->user->uid);
        place->gid = user_namespace_gid(&place->userns, config->container_def->process->user->gid);
        libcrun_container_free(config);
        return payload_check_lives(container, payload, error) &&
               (!problem || error_set(error, KT_ERROR_FAILED, "%s", problem->message));
}

/* NAME:PATH, or a path of the host; one with a colon in its first name is written as ./A:B. */
static bool read_place(const GPtrArray *all, const char *word, Place *ret, GError **error) {
        const char *end = word + strcspn(word, "/:"), *colon = word[0] != '.' && *end == ':' ? end : NULL;
        g_autofree char *name = colon ? g_strndup(word, (gsize) (colon - word)) : NULL;
        const ContainerUnit *container = colon ? container_units_get(all, name, error) : NULL;
        _cleanup_close_ int payload = -1;

        ret->path = colon ? colon + 1 : word;
        ret->uid = geteuid();
        ret->gid = getegid();
        if (*ret->path == '\0' || g_str_equal(word, "-"))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s' is no path: 'cp' takes PATH or NAME:PATH; for a stream, keyturnctl exec NAME cat",
                        word);
        if (!colon)
                return true;
        if (!container || !payload_check_running(container, error))
                return false;
        payload = payload_open(container, error);
        ret->root = payload >= 0 ? payload_open_files(container, payload, /* clone= */ false, error) : -1;
        return ret->root >= 0 && read_owner(container, payload, ret, error);
}

static int open_at(const Place *place, const char *path, int flags) {
        return place->root >= 0 ? resolve_open(place->root, path, flags, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS) :
                                  open(path, flags | O_CLOEXEC);
}

static bool fail(const char *what, const Place *place, GError **error) {
        return error_set_errno(error, errno, "%s '%s'%s", what, place->path,
                               place->root >= 0 ? " in the container" : "");
}

/* Where DEST is a directory, into that, with the name of the source. `DIR/.` is what is in DIR, also where DEST is
 * not there yet. *ret_name: transfer full, NULL for the directory itself. */
static int open_target(const Place *to, const Place *from, bool is_directory, char **ret_name, GError **error) {
        _cleanup_close_ int there = open_at(to, to->path, O_PATH | O_DIRECTORY);
        g_autofree char *base = g_path_get_basename(from->path), *plain = NULL, *parent = NULL;
        bool ends_with_slash = g_str_has_suffix(to->path, "/");

        if (there >= 0) {
                bool contents = is_directory &&
                                (g_str_equal(base, ".") || g_str_equal(base, "..") || g_str_equal(base, "/"));

                *ret_name = contents ? NULL : g_steal_pointer(&base);
                return fd_steal(&there);
        }
        if (errno != ENOENT && errno != ENOTDIR) {
                fail("Cannot open", to, error);
                return -1;
        }
        if (ends_with_slash && !is_directory) {
                fail("There is no directory", to, error);
                return -1;
        }
        *ret_name = g_path_get_basename(to->path);
        plain = g_strndup(to->path, strlen(to->path) - ends_with_slash);
        parent = g_path_get_dirname(plain);
        there = open_at(to, parent, O_PATH | O_DIRECTORY);
        if (there < 0)
                fail("There is no directory for", to, error);
        return fd_steal(&there);
}

static bool copy(const Place *from, const Place *to, guint64 limit, GError **error) {
        _cleanup_close_ int source = open_at(from, from->path, O_PATH), target = -1;
        g_autofree char *name = NULL;
        g_autoptr(GString) path = g_string_new(from->path);
        Transfer transfer = { .uid = to->uid, .gid = to->gid, .limit = limit, .path = path };
        struct stat st;
        bool ok;

        if (source < 0 || fstat(source, &st) < 0)
                return fail("Cannot open", from, error);
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
                return error_set(error, KT_ERROR_USAGE, "'%s' is neither a file nor a directory", from->path);
        target = open_target(to, from, S_ISDIR(st.st_mode), &name, error);
        ok = target >= 0 && (to->root < 0 || transfer_make_as_owner(&transfer, error)) &&
             transfer_copy(&transfer, source, target, name, error);
        transfer_clear(&transfer);
        if (transfer.left_out > 0)
                log_warning("%u left out: nodes of devices, FIFOs, sockets, and what is mounted below '%s'",
                            transfer.left_out, from->path);
        return ok;
}

int command_copy(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_auto(Place) from = PLACE_NULL, to = PLACE_NULL;
        guint64 limit = LIMIT_DEFAULT;

        if (g_strv_length(words) != 2)
                return error_negative(error, KT_ERROR_USAGE, "'cp' takes SOURCE and DEST, one of them as NAME:PATH");
        if ((options->limit && !size_parse(options->limit, &limit, error)) ||
            !read_place(all, words[0], &from, error) || !read_place(all, words[1], &to, error))
                return -1;
        if (from.root < 0 && to.root < 0)
                return error_negative(error, KT_ERROR_USAGE, "Neither '%s' nor '%s' is NAME:PATH of a container",
                                      words[0], words[1]);
        /* What the caller has is his to copy. */
        if (from.root < 0 && !options->limit)
                limit = G_MAXUINT64;
        return copy(&from, &to, limit, error) ? 0 : -1;
}
