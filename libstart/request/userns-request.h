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
        USERNS_DYNAMIC, /* ids that nobody has, until it stops */
        USERNS_NO_MAP,  /* of a user: her further ids, and not her own */
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
        bool is_dynamic;             /* as DynamicUser= of systemd's; the mode is DYNAMIC then */
        bool is_programs;            /* another OCI runtime (--runtime-program) makes or enters it */
        const char *subuid, *subgid; /* whose ids in /etc/subuid and /etc/subgid are mapped first; NULL: nobody's */
} UsernsRequest;

#define USERNS_ID_UNSAID G_MAXUINT32

#define USERNS_NO_MAP_OF_ROOT                                                                                      \
        "user namespace 'nomap' is for containers of other users than root, with Podman, too: use auto, in which " \
        "no user of the host has an id either"

/* Of Rootfs=, in files of users. */
#define ROOTFS_NO_IDMAP                                                                                            \
        "the kernel lets no user map the owners of files (':idmap'): write ':O' or nothing behind the directory, " \
        "and give its files the owners that they are to have (podman unshare chown)"

/* podman's --userns: "host", "", "auto[:size=N,uidmapping=MAP,gidmapping=MAP]", "keep-id[:uid=N,gid=N]", "nomap",
 * "ns:PATH".
 * KT_ERROR_UNSUPPORTED, with advice, for what only other users than root, or pods, have. Strings stay the value's. */
bool userns_request_parse(const char *value, UsernsRequest *ret, GError **error);

/* Which mode all options say together: --userns excludes maps and names, and so do an owner and dynamic ids. */
bool userns_request_choose(UsernsRequest *userns, GError **error);

/* The maps that they say, as podman reads them: a list of maps that is missing is the other one, and so is a name.
 * The maps are not finished (id-map.h), as what a name has is to come before them. */
bool userns_request_finish(UsernsRequest *userns, GError **error);

/* Can the payload have an id that its map must have? what: "user" or "group". */
bool userns_request_check_id(const GArray *map, guint32 id, const char *what, GError **error);

void userns_request_clear(UsernsRequest *userns);
