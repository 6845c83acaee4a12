/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/userns/dynamic-ids.h"
#include "libstart/userns/subid.h"

#define NAME_IDS ".dynamic-ids" /* the first id, as text */

bool dynamic_ids_choose(const GArray *used, guint32 random, guint32 *ret_first) {
        const guint32 places = (DYNAMIC_IDS_END - DYNAMIC_IDS_FIRST) / DYNAMIC_IDS_COUNT;

        for (guint32 i = 0; i < places; i++) {
                *ret_first = DYNAMIC_IDS_FIRST + (random % places + i) % places * DYNAMIC_IDS_COUNT;
                if (!id_ranges_find_overlap(used, *ret_first, DYNAMIC_IDS_COUNT))
                        return true;
        }
        return false;
}

void dynamic_ids_add_accounts(const char *text, GArray *used) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

        for (char **line = lines; *line; line++) {
                g_auto(GStrv) fields = g_strsplit(*line, ":", 4);
                guint64 id;

                if (g_strv_length(fields) >= 3 &&
                    g_ascii_string_to_unsigned(fields[2], 10, 0, G_MAXUINT32 - 1, &id, NULL)) {
                        IdRange range = { (guint32) id, 1 };

                        g_array_append_val(used, range);
                }
        }
}

/*
 * Who has which
 */

static char *find_record(const char *place, const char *unit) {
        return g_build_filename(place, unit, NAME_IDS, NULL);
}

/* What cannot be read may be a running container's, so that nobody gets ids before somebody has looked. An empty one
 * is nobody's: who made it had no room for the number, or was killed. */
static bool read_record(const char *place, const char *unit, guint32 *ret_first, bool *ret_found, GError **error) {
        g_autofree char *path = find_record(place, unit), *text = NULL;
        guint64 first;

        *ret_found = false;
        if (!file_read(path, &text, NULL, error))
                return false;
        if (!text || !*text)
                return true;
        if (!g_ascii_string_to_unsigned(text, 10, DYNAMIC_IDS_FIRST, DYNAMIC_IDS_END - DYNAMIC_IDS_COUNT, &first,
                                        NULL))
                return error_set(error, KT_ERROR_FAILED,
                                 "'%s' does not say which ids its container has: stop that container first", path);
        *ret_first = (guint32) first;
        *ret_found = true;
        return true;
}

static bool add_records(const char *place, GArray *used, GError **error) {
        g_auto(GStrv) units = directory_list(place, error);

        for (char **unit = units; unit && *unit; unit++) {
                IdRange range = { .count = DYNAMIC_IDS_COUNT };
                bool found;

                if (!read_record(place, *unit, &range.first, &found, error))
                        return false;
                if (found)
                        g_array_append_val(used, range);
        }
        return units;
}

static bool add_machine(GArray *used, GError **error) {
        static const char *const accounts[] = { "/etc/passwd", "/etc/group" }, *const subids[] = { PATH_SUBUID,
                                                                                                   PATH_SUBGID };

        for (size_t i = 0; i < G_N_ELEMENTS(accounts); i++) {
                g_autofree char *text = NULL, *subid = NULL;
                g_autoptr(GArray) ranges = NULL;

                if (!file_read(accounts[i], &text, NULL, error) || !file_read(subids[i], &subid, NULL, error))
                        return false;
                dynamic_ids_add_accounts(text ?: "", used);
                ranges = subid_parse(subid ?: "", NULL);
                g_array_append_vals(used, ranges->data, ranges->len);
        }
        return true;
}

/* Before others read it: whoever chooses has the lock. */
static bool write_record(const char *place, const char *unit, guint32 first, GError **error) {
        g_autofree char *directory = g_build_filename(place, unit, NULL), *path = find_record(place, unit),
                        *text = g_strdup_printf("%u", first);
        _cleanup_close_ int fd = -1;

        if (!directory_make(directory, 0700, error))
                return false;
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
        return (fd >= 0 && fd_write_all(fd, text, strlen(text))) ||
               error_set_errno(error, errno, "Cannot write '%s'", path);
}

static bool choose(guint32 *ret_first, GError **error) {
        g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(IdRange));
        guint32 random = 0;

        if (!add_machine(used, error) || !add_records(PATH_RUN, used, error) ||
            !add_records(PATH_USERNS, used, error))
                return false;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
                random =
                        (guint32) g_get_monotonic_time(); /* early at boot: only so that ids are others than before */
        return dynamic_ids_choose(used, random, ret_first) ||
               error_set(error, KT_ERROR_FAILED, "all ids of DynamicUser= (%u to %u) are used", DYNAMIC_IDS_FIRST,
                         DYNAMIC_IDS_END - 1);
}

static bool take(const IdAssignment *wanted, const char *place, guint32 *ret_first, GError **error) {
        _cleanup_close_ int lock = id_directory_lock(PATH_USERNS, error);

        return lock >= 0 && choose(ret_first, error) && write_record(place, wanted->unit, *ret_first, error);
}

/* Where they are to be pinned ahead and are not, the start has them pinned, and asks again. */
static bool find_first(const IdAssignment *wanted, guint32 *ret_first, GError **error) {
        bool has_image = !g_str_equal(wanted->layers[0], "-"), found = false;

        if ((wanted->is_pinned || !has_image) && !read_record(PATH_USERNS, wanted->unit, ret_first, &found, error))
                return false;
        return found || (wanted->is_shown || wanted->is_pinned ?
                                 choose(ret_first, error) :
                                 take(wanted, has_image ? PATH_RUN : PATH_USERNS, ret_first, error));
}

bool dynamic_ids_find(const IdAssignment *wanted, GArray **ret_uids, GArray **ret_gids, GError **error) {
        IdRange range = { .count = DYNAMIC_IDS_COUNT };

        if (!find_first(wanted, &range.first, error))
                return error_prefix(error, "Cannot find ids for '%s': ", wanted->name);
        *ret_uids = id_range_make_map(&range, NULL, range.count, ID_UID, error);
        *ret_gids = *ret_uids ? id_range_make_map(&range, NULL, range.count, ID_GID, error) : NULL;
        return *ret_gids;
}
