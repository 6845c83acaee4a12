/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/oci/host-facts.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/payload-plan.h"
#include "libstart/oci/selinux-label.h"
#include "libstart/oci/user.h"
#include "libstart/request/request.h"

/* A file of the host that is bound into the container, for reading. */
typedef struct SecretFile {
        char *source, *destination; /* both absolute */
} SecretFile;

/* All that a container's environment and OCI spec are made of. Owns nothing. */
typedef struct SpecInput {
        const ContainerRequest *request;
        const ImageConfig *image;
        const char *image_id; /* or NULL */
        const UserIdentity *user;
        const HostFacts *host;
        const char *hostname;  /* the container's */
        const GArray *uid_map; /* of its user namespace (value/id-map.h), or NULL: it has the host's */
        const GArray *gid_map;
        const char *userns_path;  /* that namespace's file; NULL: a new one */
        const char *network_path; /* the network namespace's; NULL: a new one, or the host's: as the request says */
        guint64 capabilities;     /* its bounding set, a mask as in value/capability.h */
        const PayloadPlan *payload;
        const char *uuid;          /* an init's: $container_uuid; or NULL */
        const char *init_program;  /* the host's, for request->init; or NULL */
        const char *root;          /* absolute: the host's directory that its root file system is mounted on */
        const char *volumes;       /* the host's directory of named volumes; NULL where none is asked for */
        bool root_is_kept;         /* what the payload writes to its root stays */
        const char *notify_socket; /* path on the host: what the payload notifies systemd on; NULL: nothing */
        char *const *env_files;    /* contents of request->env_files, in their order, NULL-terminated; NULL: none */
        const char *env_list;      /* content of request->env_list; NULL: none */
        gsize env_list_length;
        const GPtrArray *file_mounts;      /* of MountRequest: bind mounts for files that keyturn makes, used where
                                         * nothing else is mounted on the same path; or NULL */
        const GPtrArray *secret_files;     /* of SecretFile, or NULL */
        const GPtrArray *secret_variables; /* of char*, NAME=VALUE, or NULL */
        const GPtrArray *cdi;              /* of const CdiEdits*: their variables are set; or NULL */
        const SelinuxLabels *labels;       /* NULL: none */
} SpecInput;
