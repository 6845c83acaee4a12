/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/securebits.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/userns/dynamic-ids.h"
#include "libstart/userns/owner.h"
#include "libstart/userns/subid.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/userns/userns-maker.h"
#include "libstart/userns/userns-pin.h"
#include "libstart/value/id-map.h"
#include "libstart/value/names.h"

#define NOBODY 65534
#define AUTO_IDS 65536        /* of UserNS=auto, where no image says how many are needed */
#define AUTO_IDS_OF_USER 1024 /* of the few that she has, and as Podman */

static GArray *make_identity(void) {
        GArray *map = id_map_new();
        IdExtent all = { 0, 0, G_MAXUINT32 };

        g_array_append_val(map, all);
        return map;
}

/* Of a user's view, whose numbers they have, nobody else's. */
static GArray *find_own_ranges(const char *path, const char *name, IdKind kind, GError **error) {
        g_autofree char *own = subid_name(user_view_find_uid(), error);
        g_autoptr(GArray) uids = NULL, gids = NULL;
        GArray **found = kind == ID_UID ? &uids : &gids;

        if (!own)
                return NULL;
        if (!g_str_equal(name, own))
                return error_null(error, KT_ERROR_USAGE,
                                  "a user's container has no ids of '%s' in %s: write SubUIDMap=%s and SubGIDMap=%s",
                                  name, path, own, own);
        if (!userns_descriptor_read_further(&uids, &gids, error))
                return NULL;
        if ((*found)->len > 0)
                return g_steal_pointer(found);
        return error_null(
                error, KT_ERROR_NOT_FOUND,
                "'%s' has no ids in %s: add some (usermod --add-subuids), and systemctl --user restart keyturn-view",
                name, path);
}

/* What a name has in /etc/subuid or /etc/subgid, and then what the request says itself. */
static GArray *make_map(const char *path, const char *name, const GArray *own, IdKind kind, GError **error) {
        g_autoptr(GArray) map = id_map_new(), ranges = NULL;
        guint32 inside = 0;

        if (name)
                ranges = user_view_is_entered() ? find_own_ranges(path, name, kind, error) :
                                                  subid_find(path, name, error);
        if (name && !ranges)
                return NULL;
        for (guint i = 0; ranges && i < ranges->len; i++) {
                const IdRange *range = &g_array_index(ranges, IdRange, i);
                IdExtent extent = { inside, range->first, MIN(range->count, G_MAXUINT32 - inside) };

                if (extent.count > 0)
                        g_array_append_val(map, extent);
                inside += extent.count;
        }
        g_array_append_vals(map, own->data, own->len);
        return id_map_finish(map, kind, error) ? g_steal_pointer(&map) : NULL;
}

static bool find_maps(const UsernsRequest *request, UserNamespace *userns, GError **error) {
        userns->uids = make_map(PATH_SUBUID, request->subuid, request->uids, ID_UID, error);
        if (userns->uids)
                userns->gids = make_map(PATH_SUBGID, request->subgid, request->gids, ID_GID, error);
        return userns->gids;
}

static bool open_path(const UsernsRequest *request, UserNamespace *userns, GError **error) {
        userns->path = g_strdup(request->path);
        userns->fd = open(request->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (userns->fd < 0)
                return error_set_errno(error, errno, "Cannot open the user namespace '%s'", request->path);
        if (userns_descriptor_read(userns->fd, &userns->uids, &userns->gids, error) &&
            id_map_finish(userns->uids, ID_UID, error) && id_map_finish(userns->gids, ID_GID, error))
                return true;
        return error_prefix(error, "User namespace '%s': ", request->path);
}

/* In a user's view all containers have a namespace below it, with the ids that it has: what is root in one has no
 * rights over the others, and none over the view. Those maps are not finished (id-map.h): the kernel takes no extent
 * that is in two pieces above. */
static bool find(const IdAssignment *wanted, UserNamespace *ret, GError **error) {
        switch (wanted->request->mode) {
        case USERNS_HOST:
                return !user_view_is_entered() || userns_descriptor_read_own(&ret->uids, &ret->gids, error);
        case USERNS_AUTO:
                return id_assignment_find(wanted, &ret->uids, &ret->gids, error);
        case USERNS_OWNED:
                return owner_map_ids(wanted->request, wanted->owner, &ret->uids, &ret->gids, error);
        case USERNS_NO_MAP:
                return user_view_is_entered() ?
                               owner_map_ids_of_view(wanted->request, &ret->uids, &ret->gids, error) :
                               error_set(error, KT_ERROR_UNSUPPORTED, USERNS_NO_MAP_OF_ROOT);
        case USERNS_KEEP_ID:
                if (wanted->owner)
                        return owner_map_ids(wanted->request, wanted->owner, &ret->uids, &ret->gids, error);
                if (user_view_is_entered())
                        return owner_map_ids_of_view(wanted->request, &ret->uids, &ret->gids, error);
                ret->uids = make_identity();
                ret->gids = make_identity();
                return true;
        case USERNS_DYNAMIC:
                return dynamic_ids_find(wanted, &ret->uids, &ret->gids, error);
        case USERNS_PATH:
                return open_path(wanted->request, ret, error);
        case USERNS_MAPPED:
                return find_maps(wanted->request, ret, error);
        }
        g_assert_not_reached();
}

/* The image may have come, or changed, since it was pinned. */
static bool find_pinned(const IdAssignment *wanted, UserNamespace *ret, GError **error) {
        g_autofree char *unit = name_ahead_unit("userns", wanted->unit);

        ret->fd = userns_pin_open(wanted->unit, ret->uids, ret->gids, ret->maker, &ret->path);
        if (ret->fd < 0 && !unit_restart(unit, error)) {
                unit_failure_explain(unit, error);
                return false;
        }
        if (ret->fd < 0 && wanted->request->mode == USERNS_DYNAMIC) { /* who pinned it chose them */
                user_namespace_clear(ret);
                if (!find(wanted, ret, error))
                        return false;
        }
        if (ret->fd < 0)
                ret->fd = userns_pin_open(wanted->unit, ret->uids, ret->gids, ret->maker, &ret->path);
        ret->is_pinned = ret->fd >= 0;
        return ret->is_pinned ||
               error_set(error, KT_ERROR_FAILED, "The container's user namespace is not there: %s makes it", unit);
}

/* Of UserNS=auto it may be pinned, for mounts alone. */
static bool find_any(const IdAssignment *wanted, UserNamespace *ret, GError **error) {
        g_autofree char *path = NULL;

        if (wanted->request->mode == USERNS_AUTO)
                ret->fd = userns_pin_open(wanted->unit, ret->uids, ret->gids, ret->maker, &path);
        ret->is_pinned = ret->fd >= 0;
        if (ret->fd < 0)
                ret->fd = userns_descriptor_make(ret->uids, ret->gids, ret->maker, error);
        return ret->fd >= 0;
}

/* Its ids are those of the view: its own namespace, and that of its pod. */
static bool is_views(const UsernsRequest *request) {
        return user_view_is_entered() && (request->mode == USERNS_HOST || request->mode == USERNS_PATH);
}

/* In a user's view all that is made counts as the user's already. Other runtimes make one as root; and where runc
 * enters one, the owner's rights let it set limits on machines whose root has not CAP_SYS_RESOURCE. */
static uid_t find_maker(const IdAssignment *wanted) {
        return user_view_is_entered() || wanted->request->is_programs ? 0 : userns_maker_find(wanted->unit);
}

bool user_namespace_find(const IdAssignment *wanted, UserNamespace *ret, GError **error) {
        bool is_identity, found;

        if (!find(wanted, ret, error))
                return false;
        if (!ret->uids)
                return true;
        userns_hide_process();
        ret->maker = find_maker(wanted);
        if (user_view_is_entered() && !is_views(wanted->request) &&
            !userns_descriptor_split(&ret->uids, &ret->gids, error))
                return false;
        /* A user has no id-mapped mounts that would need it: image-copy.h. */
        is_identity = user_view_is_entered() || (id_map_is_identity(ret->uids) && id_map_is_identity(ret->gids));
        found = ret->fd >= 0 || /* a path's */
                (wanted->is_pinned ? find_pinned(wanted, ret, error) : is_identity || find_any(wanted, ret, error));
        if (is_identity) /* no mount needs it */
                fd_close(&ret->fd);
        return found;
}

bool user_namespace_find_without_image(UsernsRequest *request, const char *unit, bool is_pinned, UserNamespace *ret,
                                       GError **error) {
        static char nothing[] = "-", *const layers[] = { nothing, NULL };
        g_auto(Owner) owner = { 0 };
        const IdAssignment wanted = {
                .name = unit,
                .unit = unit,
                .request = request,
                .owner = request->owner ? &owner : NULL,
                .layers = layers,
                .is_pinned = is_pinned,
        };

        if (request->owner && !owner_find(request, &owner, error))
                return false;
        if (request->mode == USERNS_AUTO && request->size == 0)
                request->size = user_view_is_entered() ? AUTO_IDS_OF_USER : AUTO_IDS;
        return user_namespace_find(&wanted, ret, error);
}

uid_t user_namespace_uid(const UserNamespace *userns, uid_t uid) {
        guint32 outside = NOBODY;

        return !userns->uids ? uid : (id_map_outside(userns->uids, uid, &outside), outside);
}

gid_t user_namespace_gid(const UserNamespace *userns, gid_t gid) {
        guint32 outside = NOBODY;

        return !userns->gids ? gid : (id_map_outside(userns->gids, gid, &outside), outside);
}

bool user_namespace_has_other_owners(const UsernsRequest *request, const UserNamespace *userns) {
        if (!user_view_is_entered() || request->mode == USERNS_HOST)
                return false;
        return request->mode != USERNS_PATH || !id_map_changes_nothing(userns->uids) ||
               !id_map_changes_nothing(userns->gids);
}

bool user_namespace_has_group(const UserNamespace *userns, gid_t gid) {
        guint32 outside;

        return !userns->gids || id_map_outside(userns->gids, gid, &outside);
}

bool user_namespace_check(const UserNamespace *userns, uid_t uid, gid_t gid, const GArray *groups, GError **error) {
        if (!userns->uids)
                return true;
        for (guint i = 0; i < groups->len; i++)
                if (!userns_request_check_id(userns->gids, g_array_index(groups, gid_t, i), "group", error))
                        return false;
        return userns_request_check_id(userns->uids, uid, "user", error) &&
               userns_request_check_id(userns->gids, gid, "group", error);
}

bool user_namespace_check_owner(const UserNamespace *userns, const struct stat *st, const char *path,
                                GError **error) {
        guint32 inside;
        bool has_user = id_map_inside(userns->uids, st->st_uid, &inside);

        return (has_user && id_map_inside(userns->gids, st->st_gid, &inside)) ||
               error_set(error, KT_ERROR_USAGE,
                         "'/%s' of the image belongs to the %s %u, which is none of the container's: give it another "
                         "owner in the image",
                         path + strspn(path, "/"), has_user ? "group" : "user", has_user ? st->st_gid : st->st_uid);
}

/* Otherwise the kernel would take back the capabilities that concern files, with the id. */
static bool keep_capabilities(bool keep, GError **error) {
        int bits = prctl(PR_GET_SECUREBITS);

        bits = keep ? bits | SECBIT_NO_SETUID_FIXUP : bits & ~SECBIT_NO_SETUID_FIXUP;
        return prctl(PR_SET_SECUREBITS, bits) == 0 ||
               error_set_errno(error, errno, "Cannot keep the capabilities while files are made");
}

bool user_namespace_make_files_for_root(const UserNamespace *userns, GError **error) {
        if (!userns->uids)
                return true;
        if (!keep_capabilities(true, error))
                return false;
        setfsgid(user_namespace_gid(userns, 0));
        setfsuid(user_namespace_uid(userns, 0));
        return true;
}

void user_namespace_make_own_files(const UserNamespace *userns) {
        if (!userns->uids)
                return;
        setfsuid(geteuid());
        setfsgid(getegid());
        (void) keep_capabilities(false, NULL);
        if (user_view_is_entered()) /* the kernel has hidden it, and with it the files of its children's maps */
                (void) prctl(PR_SET_DUMPABLE, 1);
}

void user_namespace_clear(UserNamespace *userns) {
        g_clear_pointer(&userns->uids, g_array_unref);
        g_clear_pointer(&userns->gids, g_array_unref);
        g_clear_pointer(&userns->path, g_free);
        if (userns->fd >= 0)
                close(userns->fd);
        userns->fd = -1;
}
