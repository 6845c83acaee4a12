/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "libstart/userns/id-assignment.h"

/* The user namespace of a container: which ids of the host its ids are. */
typedef struct UserNamespace {
        GArray *uids, *gids; /* finished maps (id-map.h); NULL: it has the host's namespace */
        int fd;              /* a namespace with these maps, for mounts; -1: every id is itself */
        bool is_pinned;      /* it was made ahead */
        uid_t maker;         /* in whose name it is made, if it is: userns-maker.h; 0: this process's */
        char *path;          /* of the one that the container is to enter; NULL: it gets a new one */
} UserNamespace;

#define USER_NAMESPACE_NULL { .fd = -1 }

/* Finds the ids and makes the descriptor. For the host's namespace it does nothing. Where the one to enter is not
 * pinned, or for other ids, it waits until that is. */
bool user_namespace_find(const IdAssignment *wanted, UserNamespace *ret, GError **error);

/* The same for what has no image to count ids in, a pod: room for all that containers may have. unit: its service's.
 */
bool user_namespace_find_without_image(UsernsRequest *request, const char *unit, bool is_pinned, UserNamespace *ret,
                                       GError **error);

/* A container's id as the host knows it; itself in the host's namespace; the host's nobody where there is none. */
uid_t user_namespace_uid(const UserNamespace *userns, uid_t uid);
gid_t user_namespace_gid(const UserNamespace *userns, gid_t gid);

/* Whether a container with this request, which was found, sees its image's files with other owners than its user has
 * for them. Of a user's pod the maps say so. */
bool user_namespace_has_other_owners(const UsernsRequest *request, const UserNamespace *userns);

bool user_namespace_has_group(const UserNamespace *userns, gid_t gid);

/* That all ids of the payload have one on the host. */
bool user_namespace_check(const UserNamespace *userns, uid_t uid, gid_t gid, const GArray *groups, GError **error);

/* That who owns a file on the host is in the namespace. path: of that file, for the error. */
bool user_namespace_check_owner(const UserNamespace *userns, const struct stat *st, const char *path, GError **error);

/* From now on, and until it is left, what this process makes in a file system is the container's root's. It keeps its
 * capabilities. */
bool user_namespace_make_files_for_root(const UserNamespace *userns, GError **error);
void user_namespace_make_own_files(const UserNamespace *userns);

void user_namespace_clear(UserNamespace *userns);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UserNamespace, user_namespace_clear)
