/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/resolve.h"
#include "libstart/base/state-format.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/userns/id-assignment.h"
#include "libstart/userns/subid.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/userns/userns-maker.h"

#define USER "containers" /* as podman calls it */
#define MIN_IDS 1024U     /* podman's limits for what it finds out by itself */
#define MAX_IDS 65536U
#define NOBODY 65534U
#define FILE_LIMIT (4U << 20) /* of an image's passwd */

/* What is in a container's file: one line of numbers, the unit, and the hash of what the numbers were found for. */
typedef struct Record {
        guint32 size; /* of the namespace, with what the request maps itself */
        IdRange uids, gids;
        char *unit;
        char *key;
} Record;

static void record_clear(Record *record) {
        g_free(record->unit);
        g_free(record->key);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Record, record_clear)

static bool parse_record(const char *text, Record *ret) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", 4);

        if (g_strv_length(lines) < 3 || sscanf(lines[0], "%u %u %u %u %u", &ret->size, &ret->uids.first,
                                               &ret->uids.count, &ret->gids.first, &ret->gids.count) != 5)
                return false;
        ret->unit = g_strdup(lines[1]);
        ret->key = g_strdup(lines[2]);
        return true;
}

/* Where there is none, or it cannot be understood, ids are found anew: *ret is no record that fits. */
static bool read_own(const char *name, Record *ret, GError **error) {
        g_autofree char *path = g_build_filename(PATH_IDS, name, NULL), *text = NULL;

        if (!file_read(path, &text, NULL, error) || (text && !state_format_check(path, text, error)))
                return false;
        if (text)
                (void) parse_record(text, ret);
        return true;
}

/* The directory is locked. No unit has the name of what is unfinished. */
static bool write_record(const Record *record, GError **error) {
        g_autofree char *text = g_strdup_printf("%u %u %u %u %u\n%s\n%s\n", record->size, record->uids.first,
                                                record->uids.count, record->gids.first, record->gids.count,
                                                record->unit, record->key);

        return directory_write_file(PATH_IDS, record->unit, text, 0600, error);
}

/* What the numbers depend on, as a hash: the user's name is the image's, and may have line breaks. */
static char *make_key(const IdAssignment *wanted) {
        FileIdentity subuid = { 0 }, subgid = { 0 };
        g_autofree char *text = NULL;

        (void) file_identify(PATH_SUBUID, &subuid);
        (void) file_identify(PATH_SUBGID, &subgid);
        text = g_strdup_printf("%s\n%s\n%s\n%" G_GINT64_FORMAT " %" G_GINT64_FORMAT, wanted->request->text,
                               wanted->user ?: "", wanted->layers[0], subuid.ctime, subgid.ctime);
        return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
}

/*
 * How many
 */

guint32 passwd_text_count_ids(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        guint32 behind = 0;

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, ":", 5);

                /* NAME:PASSWORD:ID[:ID]; in a group file the fourth field has names. */
                for (guint i = 2; i <= 3 && i < g_strv_length(fields); i++) {
                        guint64 id;

                        if (!g_str_equal(fields[0], "nobody") && !g_str_equal(fields[0], "nogroup") &&
                            g_ascii_string_to_unsigned(fields[i], 10, 0, G_MAXUINT32 - 1, &id, NULL) && id != NOBODY)
                                behind = MAX(behind, (guint32) id + 1);
                }
        }
        return behind;
}

/* In the store an image's device node is one: opening it would already do what the device does. -1 with errno. */
static int open_in_layer(const char *directory, const char *path) {
        _cleanup_close_ int layer = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC), found = -1;

        if (layer >= 0)
                found = resolve_open(layer, path, O_PATH, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
        return found >= 0 ? fd_open_regular(found) : -1;
}

/* Of the uppermost layer that has the file: where it is none, or leads out of the layer, another one may. */
static bool count_in_file(char *const *layers, const char *path, guint32 *count, GError **error) {
        for (size_t i = 0; layers[i]; i++) {
                _cleanup_close_ int fd = open_in_layer(layers[i], path);
                g_autofree char *name = g_strdup_printf("'%s/%s'", layers[i], path), *text = NULL;

                if (fd >= 0 && !file_read_fd(fd, name, FILE_LIMIT, &text, NULL, error))
                        return false;
                if (fd >= 0) {
                        *count = MAX(*count, passwd_text_count_ids(text));
                        return true;
                }
                if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EINVAL)
                        return error_set_errno(error, errno, "Cannot open %s", name);
        }
        return true;
}

/* user: USER[:GROUP], or NULL. Names are in the image's files. */
static guint32 count_for_user(const char *user) {
        g_auto(GStrv) parts = g_strsplit(user ?: "", ":", 2);
        guint32 count = 1;

        for (char **part = parts; *part; part++) {
                guint64 id;

                if (g_ascii_string_to_unsigned(*part, 10, 0, G_MAXUINT32 - 1, &id, NULL))
                        count = MAX(count, (guint32) id + 1);
        }
        return MIN(count, MAX_IDS);
}

/* As podman does it: ids that the image has files of, and users. */
static bool find_size(const IdAssignment *wanted, guint32 *ret, GError **error) {
        guint32 size = MAX(MIN_IDS, count_for_user(wanted->user));

        if (wanted->request->size == 0 && (!count_in_file(wanted->layers, "etc/passwd", &size, error) ||
                                           !count_in_file(wanted->layers, "etc/group", &size, error) ||
                                           !used_ids_of_layers(wanted->layers, &size, error)))
                return false;
        *ret = wanted->request->size ?: MIN(size, MAX_IDS);
        return true;
}

static int compare_extents(const void *a, const void *b) {
        guint32 first = ((const IdExtent *) a)->inside, second = ((const IdExtent *) b)->inside;

        return (first > second) - (first < second);
}

/* Those of the first SIZE ids that the request does not map itself, and so the range has to: an array of IdRange. */
static GArray *find_unmapped(const GArray *own, guint32 size) {
        g_autoptr(GArray) sorted = own ? g_array_copy((GArray *) own) : id_map_new();
        GArray *ranges = g_array_new(FALSE, FALSE, sizeof(IdRange));
        guint64 next = 0;

        g_array_sort(sorted, compare_extents);
        for (guint i = 0; i <= sorted->len; i++) {
                const IdExtent *extent = i < sorted->len ? &g_array_index(sorted, IdExtent, i) : NULL;
                guint64 end = extent ? MIN(extent->inside, size) : size;
                IdRange range = { (guint32) next, (guint32) (end - MIN(next, end)) };

                if (range.count > 0)
                        g_array_append_val(ranges, range);
                if (extent)
                        next = MAX(next, (guint64) extent->inside + extent->count);
        }
        return ranges;
}

static guint32 count_unmapped(const GArray *own, guint32 size) {
        g_autoptr(GArray) ranges = find_unmapped(own, size);
        guint32 count = 0;

        for (guint i = 0; i < ranges->len; i++)
                count += g_array_index(ranges, IdRange, i).count;
        return count;
}

/*
 * Which
 */

const IdRange *id_ranges_find_overlap(const GArray *used, guint64 first, guint32 count) {
        for (guint i = 0; i < used->len; i++) {
                const IdRange *range = &g_array_index(used, IdRange, i);

                if (first < (guint64) range->first + range->count && range->first < first + count)
                        return range;
        }
        return NULL;
}

bool id_ranges_choose_free(const GArray *available, const GArray *used, guint32 count, guint32 *ret_first) {
        for (guint i = available->len; i-- > 0;) {
                const IdRange *range = &g_array_index(available, IdRange, i);
                guint64 end = (guint64) range->first + range->count;

                while (end >= (guint64) range->first + count) {
                        const IdRange *met = id_ranges_find_overlap(used, end - count, count);

                        if (!met) {
                                *ret_first = (guint32) (end - count);
                                return true;
                        }
                        end = met->first;
                }
        }
        return false;
}

static bool is_free(const GArray *available, const GArray *used, const IdRange *range) {
        for (guint i = 0; i < available->len; i++) {
                const IdRange *whole = &g_array_index(available, IdRange, i);

                if (range->first >= whole->first && range->count <= whole->count &&
                    range->first - whole->first <= whole->count - range->count)
                        return !id_ranges_find_overlap(used, range->first, range->count);
        }
        return false;
}

/* Does neither a service nor a container have it? While systemd calls its generators there seem to be no services, so
 * this is only asked in need. */
static bool is_left_over(const char *name, const Record *record) {
        static const char *const places[] = { "/run/systemd/generator/%s.service",
                                              "/run/systemd/generator.early/%s.service",
                                              "/run/systemd/generator.late/%s.service", PATH_RUN "/%s",
                                              PATH_POD "/%s" };

        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
                g_auto(GStrv) parts = g_strsplit(places[i], "%s", 2);
                g_autofree char *path = g_strconcat(parts[0], record->unit, parts[1], NULL);

                if (access(path, F_OK) == 0 || errno != ENOENT)
                        return false;
        }
        log_info("The ids of '%s' are free again: there is no service '%s.service'", name, record->unit);
        return true;
}

/* What cannot be read may be a running container's, so that nobody gets ids before somebody has looked. */
static bool read_other(const char *path, Record *ret, bool *ret_found, GError **error) {
        g_autofree char *text = NULL;

        if (!file_read(path, &text, NULL, error))
                return false;
        *ret_found = text;
        if (text && !state_format_check(path, text, error))
                return false;
        return !text || parse_record(text, ret) ||
               error_set(error, KT_ERROR_FAILED,
                         "'%s' does not say which ids its container has: restart that container, or remove the file "
                         "if there is none",
                         path);
}

static bool add_other(const IdAssignment *wanted, const char *other, bool is_needed, GArray *uids, GArray *gids,
                      GError **error) {
        g_autofree char *path = g_build_filename(PATH_IDS, other, NULL);
        g_auto(Record) record = { 0 };
        bool found;

        if (!read_other(path, &record, &found, error))
                return false;
        if (!found)
                return true;
        if (is_needed && is_left_over(other, &record) && (wanted->is_shown || unlink(path) == 0))
                return true;
        g_array_append_val(uids, record.uids);
        g_array_append_val(gids, record.gids);
        return true;
}

static bool add_others(const IdAssignment *wanted, bool is_needed, GArray *uids, GArray *gids, GError **error) {
        g_auto(GStrv) others = directory_list(PATH_IDS, error);

        for (char **other = others; other && *other; other++)
                if (!g_str_equal(*other, wanted->unit) && (*other)[0] != '.' &&
                    !add_other(wanted, *other, is_needed, uids, gids, error))
                        return false;
        return others;
}

static void add_own(const GArray *own, GArray *used) {
        for (guint i = 0; own && i < own->len; i++) {
                const IdExtent *extent = &g_array_index(own, IdExtent, i);
                IdRange range = { extent->outside, extent->count };

                g_array_append_val(used, range);
        }
}

/* Of Podman's: a user's nomap is all that there is, and nobody's alone, like keep-id. */
static void leave_out_all(const GArray *available, GArray *used) {
        for (guint i = used->len; i-- > 0;) {
                const IdRange *range = &g_array_index(used, IdRange, i),
                              *first = &g_array_index(available, IdRange, 0);

                if (available->len > 0 && range->first <= first->first && range->count >= first->count)
                        g_array_remove_index(used, i);
        }
}

/* The old ones, if they are still free, and enough: files on volumes have them. */
static bool choose(const GArray *available, const GArray *used, guint32 count, IdRange *range) {
        if (range->count >= count && count > 0 && is_free(available, used, range)) {
                range->count = count;
                return true;
        }
        range->count = count;
        return count == 0 || id_ranges_choose_free(available, used, count, &range->first);
}

/* Podman's for users are their own, too, as the view has them. */
static bool find_available(GArray **ret_uids, GArray **ret_gids, GError **error) {
        if (user_view_is_entered())
                return userns_descriptor_read_further(ret_uids, ret_gids, error);
        *ret_uids = subid_find(PATH_SUBUID, USER, error);
        *ret_gids = *ret_uids ? subid_find(PATH_SUBGID, USER, error) : NULL;
        return *ret_gids;
}

static bool choose_both(const IdAssignment *wanted, Record *record, bool is_needed, bool *ret_found, GError **error) {
        g_autoptr(GArray) used_uids = g_array_new(FALSE, FALSE, sizeof(IdRange)), uids = NULL;
        g_autoptr(GArray) used_gids = g_array_new(FALSE, FALSE, sizeof(IdRange)), gids = NULL;
        g_autoptr(StoreConf) conf = NULL;
        const IdRange makers = { USERNS_MAKER_FIRST, USERNS_MAKERS };

        if (!find_available(&uids, &gids, error) || !(conf = store_conf_load("", NULL, error)) ||
            !used_ids_read(conf, user_view_is_entered(), used_uids, used_gids, error))
                return false;
        if (user_view_is_entered()) {
                leave_out_all(uids, used_uids);
                leave_out_all(gids, used_gids);
        }
        g_array_append_val(used_uids, makers);
        add_own(wanted->request->uids, used_uids);
        add_own(wanted->request->gids, used_gids);
        if (!add_others(wanted, is_needed, used_uids, used_gids, error))
                return false;
        *ret_found = choose(uids, used_uids, count_unmapped(wanted->request->uids, record->size), &record->uids) &&
                     choose(gids, used_gids, count_unmapped(wanted->request->gids, record->size), &record->gids);
        return true;
}

static bool assign(const IdAssignment *wanted, Record *record, GError **error) {
        bool found = false;

        if (!find_size(wanted, &record->size, error) || !choose_both(wanted, record, false, &found, error) ||
            (!found && !choose_both(wanted, record, true, &found, error)))
                return false;
        if (!found)
                return error_set(error, KT_ERROR_FAILED,
                                 "No %u ids in a row are left of those that %s has in " PATH_SUBUID
                                 " and " PATH_SUBGID
                                 ": give it more there, or less to this container (UserNS=auto:size=)",
                                 record->size, user_view_is_entered() ? "the user" : "'" USER "'");
        return wanted->is_shown || write_record(record, error);
}

int id_directory_lock(const char *directory, GError **error) {
        _cleanup_close_ int fd = -1;

        if (!directory_make_kept(directory, 0700, error))
                return -1;
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && flock(fd, LOCK_EX) == 0)
                return fd_steal(&fd);
        return error_negative_errno(error, errno, "Cannot lock '%s'", directory);
}

static bool find_anew(const IdAssignment *wanted, Record *record, const char *key, GError **error) {
        _cleanup_close_ int lock = wanted->is_shown ? -1 : id_directory_lock(PATH_IDS, error);

        if (lock < 0 && !wanted->is_shown)
                return false;
        g_free(record->unit);
        g_free(record->key);
        record->unit = g_strdup(wanted->unit);
        record->key = g_strdup(key);
        if (assign(wanted, record, error))
                return true;
        return error_prefix(error, "Cannot find ids for the user namespace of '%s': ", wanted->name);
}

GArray *id_range_make_map(const IdRange *range, const GArray *own, guint32 size, IdKind kind, GError **error) {
        g_autoptr(GArray) unmapped = find_unmapped(own, size);
        g_autoptr(GArray) map = own ? g_array_copy((GArray *) own) : id_map_new();
        guint32 outside = range->first;

        for (guint i = 0; i < unmapped->len; i++) {
                const IdRange *gap = &g_array_index(unmapped, IdRange, i);
                IdExtent extent = { gap->first, outside, gap->count };

                g_array_append_val(map, extent);
                outside += gap->count;
        }
        return id_map_finish(map, kind, error) ? g_steal_pointer(&map) : NULL;
}

static bool fits(const Record *record, const IdAssignment *wanted, const char *key) {
        return g_strcmp0(record->key, key) == 0 && g_str_equal(record->unit, wanted->unit) &&
               (wanted->request->size > 0 || record->size >= count_for_user(wanted->user)) &&
               record->uids.count == count_unmapped(wanted->request->uids, record->size) &&
               record->gids.count == count_unmapped(wanted->request->gids, record->size);
}

bool id_assignment_find(const IdAssignment *wanted, GArray **ret_uids, GArray **ret_gids, GError **error) {
        g_autofree char *key = make_key(wanted);
        g_auto(Record) record = { 0 };
        const UsernsRequest *request = wanted->request;

        if (!directory_check_owner(PATH_IDS, error) || !read_own(wanted->unit, &record, error) ||
            (!fits(&record, wanted, key) && !find_anew(wanted, &record, key, error)))
                return false;
        *ret_uids = id_range_make_map(&record.uids, request->uids, record.size, ID_UID, error);
        *ret_gids = *ret_uids ? id_range_make_map(&record.gids, request->gids, record.size, ID_GID, error) : NULL;
        return *ret_gids;
}
