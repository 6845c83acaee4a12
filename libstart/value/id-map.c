/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/id-map.h"

#define MAX_EXTENTS 340   /* the kernel's limit */
#define N_IDS G_MAXUINT32 /* the last number is no id */

GArray *id_map_new(void) {
        return g_array_new(FALSE, FALSE, sizeof(IdExtent));
}

static IdExtent *extent_at(const GArray *map, guint i) {
        return &g_array_index(map, IdExtent, i);
}

typedef struct Flags {
        bool into, uids, gids;
} Flags;

/* Returns what is behind the flags. */
static const char *parse_flags(const char *text, Flags *ret) {
        *ret = (Flags) { 0 };
        for (; *text && strchr("+ug", *text); text++) {
                ret->into |= *text == '+';
                ret->uids |= *text == 'u';
                ret->gids |= *text == 'g';
        }
        if (!ret->uids && !ret->gids)
                ret->uids = ret->gids = true;
        return text;
}

static bool parse_number(const char *text, guint64 max, guint32 *ret) {
        guint64 number;

        if (!g_ascii_string_to_unsigned(text, 10, 0, max, &number, NULL))
                return false;
        *ret = (guint32) number;
        return true;
}

static bool parse_extent(char *const *fields, bool with_flags, IdExtent *ret, Flags *ret_flags) {
        const char *inside = with_flags ? parse_flags(fields[0], ret_flags) : fields[0];
        const char *outside = fields[1] + (with_flags && fields[1][0] == '@');

        return parse_number(inside, N_IDS - 1, &ret->inside) && parse_number(outside, N_IDS - 1, &ret->outside) &&
               (!fields[2] || parse_number(fields[2], N_IDS, &ret->count)) &&
               ret->count <= N_IDS - MAX(ret->inside, ret->outside);
}

static bool overlap(guint32 a, guint32 a_count, guint32 b, guint32 b_count) {
        return a < (guint64) b + b_count && b < (guint64) a + a_count;
}

/* What of `old` lies outside of COUNT ids from FIRST on, counted from the beginning of it. */
static void keep_rest(GArray *map, const IdExtent *old, guint64 first, guint32 count) {
        guint64 behind = first + count;

        if (first > 0) {
                IdExtent before = { old->inside, old->outside, (guint32) MIN(first, old->count) };

                g_array_append_val(map, before);
        }
        if (behind < old->count) {
                IdExtent after = { old->inside + (guint32) behind, old->outside + (guint32) behind,
                                   old->count - (guint32) behind };

                g_array_append_val(map, after);
        }
}

/* Takes COUNT ids from FIRST on out of the map, by their number inside or outside. */
static void take_out(GArray *map, bool inside, guint32 first, guint32 count) {
        g_autoptr(GArray) old = g_array_copy(map);

        g_array_set_size(map, 0);
        for (guint i = 0; i < old->len; i++) {
                const IdExtent *extent = extent_at(old, i);
                guint32 begin = inside ? extent->inside : extent->outside;

                if (!overlap(begin, extent->count, first, count))
                        g_array_append_val(map, *extent);
                else if (first >= begin)
                        keep_rest(map, extent, first - begin, count);
                else
                        keep_rest(map, extent, 0, count - (begin - first));
        }
}

static void add(GArray *map, const IdExtent *extent, bool into) {
        if (extent->count == 0)
                return;
        if (into) {
                take_out(map, true, extent->inside, extent->count);
                take_out(map, false, extent->outside, extent->count);
        }
        g_array_append_val(map, *extent);
}

static bool parse_one(GArray *map, IdKind kind, const char *value, bool with_flags, GError **error) {
        g_auto(GStrv) fields = g_strsplit(value, ":", -1);
        guint n = g_strv_length(fields);
        Flags flags = { .uids = true, .gids = true };

        if (n != 2 && n % 3 != 0)
                return error_set(error, KT_ERROR_USAGE, "'%s' is not CONTAINER-ID:HOST-ID[:COUNT]", value);
        for (guint i = 0; i < n; i += 3) {
                IdExtent extent = { .count = 1 };
                char *three[] = { fields[i], fields[i + 1], n == 2 ? NULL : fields[i + 2] };

                if (!parse_extent(three, with_flags, &extent, &flags))
                        return error_set(error, KT_ERROR_USAGE,
                                         "'%s' is not CONTAINER-ID:HOST-ID[:COUNT] with numbers below %u", value,
                                         N_IDS);
                if (kind == ID_UID ? flags.uids : flags.gids)
                        add(map, &extent, flags.into);
        }
        return true;
}

bool id_map_parse(GArray *map, IdKind kind, const char *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ",", -1);

        for (char **part = parts; *part; part++)
                if (**part && !parse_one(map, kind, *part, true, error))
                        return false;
        return true;
}

bool id_map_parse_plain(GArray *map, const char *value, GError **error) {
        return parse_one(map, ID_UID, value, false, error);
}

static int compare(const void *a, const void *b) {
        guint32 first = ((const IdExtent *) a)->inside, second = ((const IdExtent *) b)->inside;

        return (first > second) - (first < second);
}

static void join_neighbours(GArray *map) {
        g_autoptr(GArray) old = g_array_copy(map);

        g_array_set_size(map, 0);
        for (guint i = 0; i < old->len; i++) {
                const IdExtent *extent = extent_at(old, i);
                IdExtent *last = map->len > 0 ? extent_at(map, map->len - 1) : NULL;

                if (last && extent->inside - last->inside == last->count &&
                    extent->outside - last->outside == last->count)
                        last->count += extent->count;
                else
                        g_array_append_val(map, *extent);
        }
}

static bool is_twice(const GArray *map, guint i) {
        const IdExtent *this = extent_at(map, i);

        for (guint j = 0; j < i; j++) {
                const IdExtent *other = extent_at(map, j);

                if (overlap(this->inside, this->count, other->inside, other->count) ||
                    overlap(this->outside, this->count, other->outside, other->count))
                        return true;
        }
        return false;
}

/* As id_map_finish(), but for the id 0, which a mount may lack. */
static bool finish_any(GArray *map, IdKind kind, GError **error) {
        const char *what = kind == ID_UID ? "user" : "group";

        g_array_sort(map, compare);
        join_neighbours(map);
        if (map->len > MAX_EXTENTS)
                return error_set(error, KT_ERROR_USAGE, "the map of %s ids has %u extents, and the kernel takes %d",
                                 what, map->len, MAX_EXTENTS);
        for (guint i = 1; i < map->len; i++)
                if (is_twice(map, i))
                        return error_set(error, KT_ERROR_USAGE,
                                         "the map of %s ids has '%u:%u:%u' and another extent with some of the same "
                                         "ids; write +%u:%u:%u to replace these",
                                         what, extent_at(map, i)->inside, extent_at(map, i)->outside,
                                         extent_at(map, i)->count, extent_at(map, i)->inside,
                                         extent_at(map, i)->outside, extent_at(map, i)->count);
        return true;
}

bool id_map_finish(GArray *map, IdKind kind, GError **error) {
        guint32 root;

        return finish_any(map, kind, error) &&
               (id_map_outside(map, 0, &root) ||
                error_set(error, KT_ERROR_USAGE,
                          "the map of %s ids has none for the container's 0, which it needs; a word with + fills "
                          "no gaps: write all of the ids, such as 0:1:999 999:0:1",
                          kind == ID_UID ? "user" : "group"));
}

/* FILE-ID-HOST-ID-COUNT, with a @ before it for the container's ids: those that are there must be all in one extent.
 */
static bool parse_mount_extent(const char *text, const GArray *within, IdExtent *ret) {
        bool relative = text[0] == '@';
        g_auto(GStrv) fields = g_strsplit(text + relative, "-", -1);
        guint32 last;

        if (g_strv_length(fields) != 3 || !parse_extent(fields, false, ret, NULL) || ret->count == 0)
                return false;
        if (!relative || !within)
                return true;
        if (!id_map_outside(within, ret->outside + ret->count - 1, &last) ||
            !id_map_outside(within, ret->outside, &ret->outside))
                return false;
        return last - ret->outside == ret->count - 1;
}

static GArray *parse_mount_map(const char *text, const GArray *within, IdKind kind, GError **error) {
        g_autoptr(GArray) map = id_map_new();
        g_auto(GStrv) parts = g_strsplit(text, "#", -1);

        for (char **part = parts; *part; part++) {
                IdExtent extent = { 0 };

                if (!parse_mount_extent(*part, within, &extent))
                        return error_null(error, KT_ERROR_USAGE,
                                          "'%s' is not FILE-ID-HOST-ID-COUNT, "
                                          "or with a @ has ids that the user namespace has not",
                                          *part);
                g_array_append_val(map, extent);
        }
        return finish_any(map, kind, error) ? g_steal_pointer(&map) : NULL;
}

bool id_map_parse_mount(const char *value, const GArray *uids, const GArray *gids, GArray **ret_uids,
                        GArray **ret_gids, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ";", -1);
        bool is_both = g_strv_length(parts) == 2 && g_str_has_prefix(parts[0], "uids=") &&
                       g_str_has_prefix(parts[1], "gids=");
        g_autoptr(GArray) found = NULL;

        if (!is_both)
                return error_set(error, KT_ERROR_USAGE, "'idmap=%s': write idmap=uids=MAP;gids=MAP, or idmap alone",
                                 value);
        found = parse_mount_map(parts[0] + strlen("uids="), uids, ID_UID, error);
        if (found)
                *ret_gids = parse_mount_map(parts[1] + strlen("gids="), gids, ID_GID, error);
        if (!found || !*ret_gids)
                return false;
        *ret_uids = g_steal_pointer(&found);
        return true;
}

bool id_map_outside(const GArray *map, guint32 inside, guint32 *ret) {
        for (guint i = 0; i < map->len; i++) {
                const IdExtent *extent = extent_at(map, i);

                if (inside >= extent->inside && inside - extent->inside < extent->count) {
                        *ret = extent->outside + (inside - extent->inside);
                        return true;
                }
        }
        return false;
}

bool id_map_inside(const GArray *map, guint32 outside, guint32 *ret) {
        for (guint i = 0; i < map->len; i++) {
                const IdExtent *extent = extent_at(map, i);

                if (outside >= extent->outside && outside - extent->outside < extent->count) {
                        *ret = extent->inside + (outside - extent->outside);
                        return true;
                }
        }
        return false;
}

bool id_map_is_identity(const GArray *map) {
        return map->len == 1 && extent_at(map, 0)->inside == 0 && extent_at(map, 0)->outside == 0 &&
               extent_at(map, 0)->count == N_IDS;
}

bool id_map_changes_nothing(const GArray *map) {
        for (guint i = 0; i < map->len; i++)
                if (extent_at(map, i)->inside != extent_at(map, i)->outside)
                        return false;
        return true;
}

char *id_map_format(const GArray *map) {
        GString *text = g_string_new(NULL);

        for (guint i = 0; i < map->len; i++)
                g_string_append_printf(text, "%u %u %u\n", extent_at(map, i)->inside, extent_at(map, i)->outside,
                                       extent_at(map, i)->count);
        return g_string_free(text, FALSE);
}
