/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum NetworkMode {
        NETWORK_HOST,
        NETWORK_NONE,      /* loopback only */
        NETWORK_PINNED,    /* what keyturn-network has made ahead, by name: PATH_NETWORK/NAME */
        NETWORK_PATH,      /* the namespace that a file is */
        NETWORK_CONTAINER, /* that of another container of keyturn's, by its state directory's name */
        NETWORK_PODMAN,    /* that of a container of Podman's, by its name */
} NetworkMode;

/* What the container joins. */
typedef struct NetworkChoice {
        NetworkMode mode;
        const char *of; /* the name or the path; NULL with host and none */
        bool is_owned;  /* a pinned one that belongs to the container's user namespace, which is pinned, too */
} NetworkChoice;

/* In a network that belongs to a user namespace of ours, root of ours may do everything, whatever capabilities it has
 * (user_namespaces(7): the owner's in the parent). So a container without a user namespace that has not all of
 * CAPABILITY_NETWORK anyway is refused there, by libstart always, and by the generator where the files tell. */
#define NETWORK_MODE_GAINS_RIGHTS                                                                                 \
        "this network belongs to a user namespace, and root in a container without one would have all rights in " \
        "it, to change addresses and to send as others; give this container, or the pod that it is in, a user "   \
        "namespace, too (UserNS=auto), or AddCapability=NET_ADMIN NET_RAW if that is what it is for"

/* For two of a user's containers with one network: the one that it belongs to has ids of its own. Behind that one's
 * name. */
#define NETWORK_MODE_OTHER_IDS                                                                                       \
        "has other ids than its user's (UserNS=, UIDMap=), and its network belongs to these: remove them there, or " \
        "put both into a pod (Pod=)"

/* "host", "none", "pinned:NAME", "owned:NAME", "ns:PATH", "container:UNIT", "podman:NAME"; ret->of is inside value.
 * Everything else that podman knows is the generator's to make one of these of: KT_ERROR_UNSUPPORTED, with advice. */
bool network_mode_parse(const char *value, NetworkChoice *ret, GError **error);

/* "pasta", or "pasta:OPTION,...": what users' files may have, and becomes a pinned one. */
bool network_mode_is_pasta(const char *value);
