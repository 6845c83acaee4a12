/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Who the payload is, inside the container. */
typedef struct UserIdentity {
        uid_t uid;
        gid_t gid;
        GArray *additional_gids; /* of gid_t, never NULL; the order and contents Podman gives them */
        char *name;              /* of the entry in passwd; NULL where there is none */
        char *home;              /* absolute; "/" where there is no entry */
        bool in_passwd;
        bool explicit_group; /* the spec named a group */
} UserIdentity;

/* spec: USER[:GROUP], names or numbers; "" or NULL means user 0. passwd and group: what the container's
 * own /etc/passwd and /etc/group hold, NULL for a file that is not there. The rules are Podman's: a
 * number is an id, never a name, and need not be in the file; an unknown name is an error; of several
 * entries the first counts; supplementary groups come from the file only where the spec names no group.
 * Lines that are broken are skipped. On failure *ret is left alone. */
bool user_resolve(const char *spec, const char *passwd, const char *group, UserIdentity *ret, GError **error);

/* More groups for the payload, each a name or a number (of char*); `group` is as above. A number need not be in the
 * file. On failure the identity may have some of them. */
bool user_add_groups(UserIdentity *identity, const GPtrArray *groups, const char *group, GError **error);

/* One that it has already is not added. */
void user_identity_add_group(UserIdentity *identity, gid_t gid);

void user_identity_clear(UserIdentity *identity);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(UserIdentity, user_identity_clear)
