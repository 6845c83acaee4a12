/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/request/userns-request.h"
#include "libstart/value/id-map.h"

static bool parse_id(const char *option, guint32 *ret, GError **error) {
        const char *value = strchr(option, '=') + 1;
        guint64 id;

        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32 - 1, &id, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s': '%s' is no number of an id", option, value);
        *ret = (guint32) id;
        return true;
}

static bool parse_mapping(const char *option, GArray **map, GError **error) {
        if (!*map)
                *map = id_map_new();
        return id_map_parse_plain(*map, strchr(option, '=') + 1, error);
}

static bool parse_auto(const char *option, UsernsRequest *userns, GError **error) {
        if (g_str_has_prefix(option, "size="))
                return parse_id(option, &userns->size, error);
        if (g_str_has_prefix(option, "uidmapping="))
                return parse_mapping(option, &userns->uids, error);
        if (g_str_has_prefix(option, "gidmapping="))
                return parse_mapping(option, &userns->gids, error);
        return error_set(error, KT_ERROR_USAGE, "'auto:%s': there are size=, uidmapping= and gidmapping=", option);
}

static bool parse_keep_id(const char *option, UsernsRequest *userns, GError **error) {
        if (g_str_has_prefix(option, "uid="))
                return parse_id(option, &userns->uid, error);
        if (g_str_has_prefix(option, "gid="))
                return parse_id(option, &userns->gid, error);
        return error_set(error, KT_ERROR_USAGE, "'keep-id:%s': there are uid= and gid=", option);
}

static bool parse_options(const char *value, bool (*parse)(const char *, UsernsRequest *, GError **),
                          UsernsRequest *userns, GError **error) {
        const char *colon = strchr(value, ':');
        g_auto(GStrv) options = colon ? g_strsplit(colon + 1, ",", -1) : NULL;

        for (char **option = options; option && *option; option++)
                if (!parse(*option, userns, error))
                        return false;
        return true;
}

static bool is_mode(const char *value, const char *mode) {
        size_t length = strlen(mode);

        return strncmp(value, mode, length) == 0 && (value[length] == '\0' || value[length] == ':');
}

static bool parse_path(const char *value, UsernsRequest *userns, GError **error) {
        userns->mode = USERNS_PATH;
        userns->path = value + strlen("ns:");
        return userns->path[0] == '/' ||
               error_set(error, KT_ERROR_USAGE, "'%s': the file of a user namespace needs an absolute path", value);
}

static bool refuse(const char *value, GError **error) {
        if (g_str_equal(value, "private"))
                return error_set(error, KT_ERROR_USAGE,
                                 "user namespace 'private' says no ids: use auto, or UIDMap= and GIDMap= alone");
        if (g_str_has_prefix(value, "container:"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "user namespace '%s': that of another container is not shared; give both "
                                 "the same UIDMap=, or a namespace with a file of its own: ns:PATH",
                                 value);
        return error_set(
                error, KT_ERROR_USAGE,
                "there is no user namespace '%s': use auto, keep-id, ns:PATH or host; ids are for UIDMap= and "
                "GIDMap=",
                value);
}

static bool parse(const char *value, UsernsRequest *userns, GError **error) {
        if (value[0] == '\0' || g_str_equal(value, "host"))
                return true;
        if (g_str_has_prefix(value, "ns:"))
                return parse_path(value, userns, error);
        if (is_mode(value, "auto")) {
                userns->mode = USERNS_AUTO;
                return parse_options(value, parse_auto, userns, error);
        }
        if (is_mode(value, "keep-id")) {
                userns->mode = USERNS_KEEP_ID;
                userns->uid = userns->gid = USERNS_ID_UNSAID;
                return parse_options(value, parse_keep_id, userns, error);
        }
        if (g_str_equal(value, "nomap")) {
                userns->mode = USERNS_NO_MAP;
                return true;
        }
        return refuse(value, error);
}

bool userns_request_parse(const char *value, UsernsRequest *ret, GError **error) {
        UsernsRequest userns = { .text = value[0] ? value : NULL,
                                 .owner = ret->owner,
                                 .is_dynamic = ret->is_dynamic };

        if (!parse(value, &userns, error)) {
                userns_request_clear(&userns);
                return false;
        }
        userns_request_clear(ret);
        *ret = userns;
        return true;
}

static bool parse_list(const GPtrArray *values, IdKind kind, GArray **ret, GError **error) {
        *ret = id_map_new();
        for (guint i = 0; i < values->len; i++)
                if (!id_map_parse(*ret, kind, values->pdata[i], error))
                        return false;
        return true;
}

bool userns_request_choose(UsernsRequest *userns, GError **error) {
        bool has_maps = userns->uidmaps->len > 0 || userns->gidmaps->len > 0 || userns->subuid || userns->subgid;

        if (userns->owner &&
            (has_maps || userns->mode == USERNS_AUTO || userns->mode == USERNS_PATH || userns->mode == USERNS_NO_MAP))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "a container that belongs to a user (User= in [Service]) has that user's ids: leave "
                                 "out UserNS= but for keep-id, UIDMap=, GIDMap=, SubUIDMap= and SubGIDMap=");
        if (userns->is_dynamic && (has_maps || userns->mode != USERNS_HOST || userns->owner))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "a container with DynamicUser= in [Service] has ids that nobody else has: leave out "
                                 "UserNS=, UIDMap=, GIDMap=, SubUIDMap= and SubGIDMap=, or DynamicUser=");
        if (userns->is_dynamic)
                userns->mode = USERNS_DYNAMIC;
        if (userns->owner && userns->mode == USERNS_HOST)
                userns->mode = USERNS_OWNED;
        if (!has_maps)
                return true;
        if (userns->text)
                return error_set(error, KT_ERROR_USAGE,
                                 "excludes --uidmap, --gidmap, --subuidname and --subgidname (UIDMap=, GIDMap=, "
                                 "SubUIDMap= and SubGIDMap=): remove the one or the others");
        userns->mode = USERNS_MAPPED;
        return true;
}

bool userns_request_finish(UsernsRequest *userns, GError **error) {
        const GPtrArray *uidmaps = userns->uidmaps, *gidmaps = userns->gidmaps;

        if (!userns->owner && userns->uid == USERNS_ID_UNSAID)
                userns->uid = user_view_is_entered() ? user_view_find_uid() : 0;
        if (!userns->owner && userns->gid == USERNS_ID_UNSAID)
                userns->gid = user_view_is_entered() ? user_view_find_gid() : 0;
        if (userns->mode != USERNS_MAPPED)
                return true;
        userns->subuid = userns->subuid ?: userns->subgid;
        userns->subgid = userns->subgid ?: userns->subuid;
        return parse_list(uidmaps->len > 0 ? uidmaps : gidmaps, ID_UID, &userns->uids, error) &&
               parse_list(gidmaps->len > 0 ? gidmaps : uidmaps, ID_GID, &userns->gids, error);
}

bool userns_request_check_id(const GArray *map, guint32 id, const char *what, GError **error) {
        guint32 outside;

        return id_map_outside(map, id, &outside) ||
               error_set(error, KT_ERROR_USAGE,
                         "The payload's %s %u is none of its user namespace's: map it (UIDMap=, GIDMap=), or ask for "
                         "more ids (UserNS=auto:size=)",
                         what, id);
}

void userns_request_clear(UsernsRequest *userns) {
        g_clear_pointer(&userns->uids, g_array_unref);
        g_clear_pointer(&userns->gids, g_array_unref);
}
