/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum UsernsMode {
        USERNS_HOST,
        USERNS_AUTO,    /* a range of ids that no other container has */
        USERNS_KEEP_ID, /* a namespace in which every id is itself */
        USERNS_PATH,    /* one that there is */
        USERNS_MAPPED,  /* with the maps of --uidmap and its like: userns_request_finish() */
        USERNS_OWNED,   /* a user's: root is that user */
} UsernsMode;

/* Which user namespace a container has. */
typedef struct UsernsRequest {
        UsernsMode mode;
        const char *text; /* the value of --userns; NULL: it is not said */
        guint32 size;     /* USERNS_AUTO: number of ids; 0: not said */
        GArray *uids; /* owned, an id map or NULL. USERNS_AUTO: what to map beside the range; USERNS_MAPPED: all */
        GArray *gids; /* the same */
        guint32 uid,
                gid; /* USERNS_KEEP_ID: who the payload is, where neither file nor image say it, and with an owner
                             who that is inside; USERNS_ID_UNSAID: as outside */
        const char *path; /* USERNS_PATH */

        const GPtrArray *uidmaps, *gidmaps; /* values of --uidmap and --gidmap */
        const char *owner;           /* USER[:GROUP] of the host; NULL: root's. The mode is OWNED or KEEP_ID then */
        const char *subuid, *subgid; /* whose ids in /etc/subuid and /etc/subgid are mapped first; NULL: nobody's */
} UsernsRequest;

#define USERNS_ID_UNSAID G_MAXUINT32

/* podman's --userns: "host", "", "auto[:size=N,uidmapping=MAP,gidmapping=MAP]", "keep-id[:uid=N,gid=N]", "ns:PATH".
 * KT_ERROR_UNSUPPORTED, with advice, for what only other users than root, or pods, have. Strings stay the value's. */
bool userns_request_parse(const char *value, UsernsRequest *ret, GError **error);

/* Which mode all options say together: --userns excludes maps and names, and so does an owner. */
bool userns_request_choose(UsernsRequest *userns, GError **error);

/* The maps that they say, as podman reads them: a list of maps that is missing is the other one, and so is a name.
 * The maps are not finished (id-map.h), as what a name has is to come before them. */
bool userns_request_finish(UsernsRequest *userns, GError **error);

void userns_request_clear(UsernsRequest *userns);
