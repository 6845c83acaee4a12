/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Every fixed path at run time, in one place. */

#define PATH_RUN "/run/keyturn" /* all transient state; a container's own is PATH_RUN/UNIT */

/* Names under PATH_RUN that are not containers; the generator refuses services of these names. */
#define NAME_SECCOMP "seccomp"
#define NAME_RELAY "relay"
#define NAME_POD "pod"
#define NAME_NETWORK "network"
#define NAME_USERNS "userns"
#define NAME_CDI "cdi"
#define NAME_KUBE "kube"

#define PATH_SECCOMP PATH_RUN "/" NAME_SECCOMP      /* filters compiled at boot: KEY.bpf */
#define PATH_SECCOMP_LIB "/usr/lib/keyturn/seccomp" /* filters compiled when the system image was built */
#define PATH_IDS "/var/lib/keyturn/ids"             /* of containers with UserNS=auto: a file of each name */
#define PATH_COPIES "/var/lib/keyturn/copies"       /* of users: images with other owners */
#define PATH_UPDATING PATH_IMAGES "/updating"       /* while containers are updated: keyturn-update-resume.service */
#define PATH_IMAGES "/var/lib/keyturn/images"     /* of each name that was pulled: a lock, and what was rolled back */
#define PATH_UNSYNCED "/var/lib/keyturn/unsynced" /* of each name that comes: a mark until it is on the disk */
#define PATH_CUT \
        "/var/lib/keyturn/cut" /* of each name that a power cut kept from coming: its mark until it has come */
#define PATH_PULLING "/var/lib/keyturn/pulling"   /* layers that come; of each name in a directory of its own */
#define PATH_POD PATH_RUN "/" NAME_POD            /* namespaces of pods, made ahead: NAME/ipc, uts, net, shm */
#define NAME_POD_USER "user"                      /* in there, user-DIGEST: the user namespace, where it has one */
#define NAME_POD_KEPT "kept"                      /* the same of a user's pod with UserNS=keep-id */
#define PATH_NETWORK PATH_RUN "/" NAME_NETWORK    /* namespaces made ahead: NAME/netns, NAME/names */
#define PATH_USERNS PATH_RUN "/" NAME_USERNS      /* user namespaces made ahead: UNIT/NAME */
#define PATH_CDI PATH_RUN "/" NAME_CDI            /* files of CDI that were YAML: under their path */
#define PATH_KUBE PATH_RUN "/" NAME_KUBE          /* files of ConfigMaps and Secrets: POD-pod/VOLUME/KEY */
#define PATH_MOUNTED PATH_RUN "/.mounted"         /* of each volume that was mounted (Device=): a mark */
#define PATH_RELAY PATH_RUN "/" NAME_RELAY        /* socket of keyturn-relay.service */
#define PATH_NOTIFY "/run/systemd/notify"         /* where systemd itself listens to services */
#define PATH_NETWORKS "/var/lib/keyturn/networks" /* networks, where Podman's directory cannot be written */
#define PATH_LEASES "/var/lib/keyturn/leases"     /* addresses that namespaces had: a file of each */
