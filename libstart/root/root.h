/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/health/image-health.h"
#include "libstart/mount/overlay.h"
#include "libstart/oci/image-config.h"
#include "libstart/request/request.h"
#include "libstart/root/identity.h"
#include "libstart/store/image.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/value/network-names.h"

/* What becomes the container's "/". */
typedef struct Root {
        char **layers;          /* directories, uppermost first; of a user's image NULL, as they are hers */
        char *directory;        /* a plain directory that is used as it is (Rootfs= without :O), else NULL */
        ImageConfig *config;    /* of the image; empty for a directory */
        ImageHealth *health;    /* the image's HEALTHCHECK, or NULL */
        char *image_id;         /* 64 hex digits, or NULL */
        char *copy;             /* a directory to mount in place of all layers, owners are mapped in it; or NULL */
        char *mount_point;      /* the host's directory that stands for it: the spec's root.path */
        int source;             /* of such a directory, also with :O, as it was found; of a user's image; or -1 */
        int fd;                 /* for looking at it */
        int mount;              /* the same, detached, yet to be put on mount_point; or -1 */
        WritableLayer layer;    /* the overlay's, or for files that are mounted on those of a plain directory */
        char *layer_place;      /* the host's directory to put it on, before the root is put on mount_point */
        bool layer_is_attached; /* there, in this process's mount namespace */
        const UserNamespace *users; /* it is in a user's store: `source` is a mount of hers (users-image.h), and these
                                      * ids are all that its files may belong to; NULL: it is not */
        bool is_mapped;             /* its files are to have the ids of the user namespace */
        const char *label;          /* SELinux's, of all files of an image, and of those that are made; NULL: none */
        const NetworkNames *network; /* for the files that are made; NULL: the host's network or none */
        GPtrArray *made;             /* these files (made-files.h), or NULL */
} Root;

#define ROOT_NULL { .source = -1, .fd = -1, .mount = -1, .layer = WRITABLE_LAYER_NULL }

/* Find the image, or the directory, that is asked for. */
bool root_find(const ContainerRequest *request, Root *ret, GError **error);

/* The health check of an image that has one to be read. */
bool root_read_health(const StoreImage *image, const ContainerRequest *request, ImageHealth **ret, GError **error);

/* Prepare everything, and mount it where nobody sees it: overlay and generated files. In `directory`, which only root
 * can enter, is the mount point. A plain directory's files are yet to be made: in its layer. No device node of the
 * image, or of the directory, can be opened from the first. */
bool root_mount(Root *root, const ContainerRequest *request, const UserNamespace *userns, const char *directory,
                const char *hostname, GError **error);

/* What depends on who the user is, and so could not be written before the root was mounted: an entry in passwd and
 * group, the directories that the image wants. A plain directory gets all generated files as mounts (of MountRequest,
 * transfer full). */
bool root_complete(const Root *root, const ContainerRequest *request, const UserNamespace *userns,
                   const char *hostname, const Identity *identity, GPtrArray **ret_file_mounts, GError **error);

/* Before Linux 6.15 there are mounts in a mount namespace of this process, where their mount point cannot be removed.
 * Undo that, when no process of the container is left; else nothing is to be done. */
void root_unmount(const Root *root);

/* Open it for looking only: nothing is made, nothing can be written. */
bool root_peek(Root *root, GError **error);

void root_clear(Root *root);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Root, root_clear)
