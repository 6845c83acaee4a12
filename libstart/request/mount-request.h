/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum MountType {
        MOUNT_BIND,
        MOUNT_TMPFS,
        MOUNT_VOLUME,
        MOUNT_IMAGE,
        MOUNT_GLOB,
        MOUNT_RAMFS,
        MOUNT_DEVPTS,
        MOUNT_ARTIFACT,
} MountType;

/* With SELinux, the source becomes a container's own files: z, Z or relabel=. */
typedef enum Relabel {
        RELABEL_NO,
        RELABEL_SHARED,  /* those of all containers */
        RELABEL_PRIVATE, /* of this one alone */
} Relabel;

/* A mount that a user asks for, by --volume, --mount or --tmpfs of podman-run(1), which are three spellings of
 * the same. */
typedef struct MountRequest {
        MountType type;
        const char *text;   /* the value that asks for it, which belongs to the LaunchArgs; or NULL */
        char *source;       /* bind: absolute and without "." or ".."; volume: its name, NULL for an anonymous one;
                             * image, artifact: a reference; glob: a pattern of absolute paths; NULL for other
                             * types */
        char *destination;  /* likewise, and never "/" */
        GPtrArray *options; /* of char*: as the OCI runtime takes them, podman's defaults included, each once */
        char *subpath;      /* of a volume or an image: what is mounted of it, links followed within; or NULL */
        char *id_map; /* idmap: owners are mapped, as in id-map.h; "" for those of the user namespace; or NULL */
        char *title, *digest, *file_name; /* artifact: which of its files, and what it is called; each may be NULL */
        bool overlay;                     /* O: what is written goes with the container */
        bool chown;                       /* U: it belongs to the payload's user, with everything in there */
        bool no_copy;                     /* nocopy: a new volume gets nothing of what the image has there */
        Relabel relabel;
} MountRequest;

void mount_request_free(MountRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MountRequest, mount_request_free)

/* Each fails with KT_ERROR_USAGE, or with KT_ERROR_UNSUPPORTED and what to do instead. Transfer full. */
MountRequest *mount_request_parse_volume(const char *value, GError **error); /* SOURCE:DESTINATION[:OPTION,...] */
MountRequest *mount_request_parse_mount(const char *value, GError **error);  /* type=T,KEY[=VALUE],... as CSV */
MountRequest *mount_request_parse_tmpfs(const char *value, GError **error);  /* DESTINATION[:OPTION,...] */

/* A --volume as far as it can be read while systemd has yet to expand it: source and destination as they stand, and
 * those of the options that are any. Nothing is checked, and nothing completed. Transfer full. */
MountRequest *mount_request_sketch_volume(const char *value);

/* Can `source` be that of a --volume, a path or the name of a volume? Fails as the above. */
bool mount_request_check_volume_source(const char *source, GError **error);

/* The path in the field source= (or src=) of a --mount, as it stands: the rest may be anything, such as what systemd
 * has yet to expand. NULL where there is none. Transfer full. */
char *mount_request_find_source(const char *mount);

/* The same --mount with `path` in that field, which it has. Transfer full. */
char *mount_request_replace_source(const char *mount, const char *path);

/* A volume without a name: keyturn makes a place for it. */
bool mount_request_is_anonymous(const MountRequest *request);

/* Is `option` (a whole one: "ro", "size=1m") among those of the request, given or by default? */
bool mount_request_has_option(const MountRequest *request, const char *option);

/* Is what is mounted in it also mounted on the host? */
bool mount_request_is_shared(const MountRequest *request);

/* Always false: a mount on `path`, or what else `what` says, would be in the one on `shared`, which is shared with
 * the host. */
bool mount_request_refuse_in_shared(const char *what, const char *path, const char *shared, GError **error);

/* Can `request` be asked for beside `other`? On the same destination only if it is the same once more; volumes
 * without names are no mounts, and can. And neither in the other, if that is shared with the host. */
bool mount_request_check_beside(const MountRequest *request, const MountRequest *other, GError **error);
#define MOUNT_REQUEST_TWO "Two different mounts are to be on '%s': leave one out"

/* Are there ids that idmap can map to? has_userns: the container has a user namespace. */
bool mount_request_check_id_map(const MountRequest *request, bool has_userns, GError **error);

/* For the parsers above; that of --mount is in mount-csv.c. The caller sets type first. `complete` adds what
 * podman adds where nothing was said; it is the last step. */
MountRequest *mount_request_new(MountType type);
bool mount_request_set_source(MountRequest *request, const char *path, GError **error);
bool mount_request_set_destination(MountRequest *request, const char *path, GError **error);
bool mount_request_add_option(MountRequest *request, const char *option, GError **error);
bool mount_request_complete(MountRequest *request, GError **error);
