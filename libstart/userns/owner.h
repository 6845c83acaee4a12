/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/user.h"
#include "libstart/request/userns-request.h"

/* The user of the host that a container belongs to (User= of [Service], --owner): its root is that user, its other
 * ids are those that the user has in /etc/subuid and /etc/subgid, and what its file names on the host is opened with
 * the user's rights. */
typedef struct Owner {
        UserIdentity identity; /* its additional groups are also those that libstart itself was given */
        char *subid_name;      /* in /etc/subuid and /etc/subgid: the name, else the number */
} Owner;

/* Who that is by the files of the tree below root ("": this machine's), as the next one looks. */
bool owner_resolve(const char *root, const char *spec, UserIdentity *ret, GError **error);

/* Looks the user up in /etc/passwd and /etc/group, and in files of user records (user-record.h). Other sources are
 * not asked, but a number with a group need not be there. Fails for root. The request's ids of keep-id are the user's
 * from now on, where it says none. */
bool owner_find(UsernsRequest *request, Owner *ret, GError **error);

/* The finished maps. A user without further ids has one id, which is said in the log. Transfer full. */
bool owner_map_ids(const UsernsRequest *request, const Owner *owner, GArray **ret_uids, GArray **ret_gids,
                   GError **error);

/* The maps of keep-id and nomap in a user's view, where root is the user, and her further ids are those of the view.
 * Not split yet, as user_namespace_find() does. Transfer full. */
bool owner_map_ids_of_view(const UsernsRequest *request, GArray **ret_uids, GArray **ret_gids, GError **error);

/* From now on, until they are left, this process opens files with the user's rights alone, and makes them as the
 * user. Its other capabilities stay. NULL: nothing changes. errno stays. A process that cannot ends. */
void owner_take_rights(const Owner *owner);
void owner_leave_rights(const Owner *owner);

/* This process becomes the user in all, root of the user namespace with her ids (owner_map_ids(), OWNED) and of a
 * mount namespace below it. She can signal it, but not trace it, nor enter its namespace, which root has made. There
 * is no way back. */
bool owner_become(const Owner *owner, int userns_fd, GError **error);

/* The payload is to have the user's groups, which libcrun leaves as they are (GroupAdd=keep-groups). NULL: it has
 * those that systemd has given libstart. */
bool owner_keep_groups(const Owner *owner, GError **error);

void owner_clear(Owner *owner);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Owner, owner_clear)
