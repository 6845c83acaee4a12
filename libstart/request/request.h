/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/dns-request.h"
#include "libstart/request/health-request.h"
#include "libstart/request/host-access.h"
#include "libstart/request/label-option.h"
#include "libstart/request/log-option.h"
#include "libstart/request/network-mode.h"
#include "libstart/request/storage-option.h"
#include "libstart/request/systemd-mode.h"
#include "libstart/request/userns-request.h"

/* Which namespace of a kind a container is in: a new one of its own, if neither is set. */
typedef struct NamespaceChoice {
        bool host;        /* the machine's */
        const char *path; /* the one that this file is */
} NamespaceChoice;

/* What the directories are that an image declares as VOLUME. */
typedef enum ImageVolumes {
        IMAGE_VOLUMES_ANONYMOUS, /* writable, and gone when the container stops */
        IMAGE_VOLUMES_KEPT,      /* named volumes of the container's (volume/kept-volumes.h) */
        IMAGE_VOLUMES_TMPFS,     /* a tmpfs each, with a copy of what the image has there */
        IMAGE_VOLUMES_IGNORED,   /* directories like others */
} ImageVolumes;

/* Who says READY=1 to systemd. */
typedef enum NotifyMode {
        NOTIFY_CONMON,    /* libstart, once the payload was executed (to podman: its monitor) */
        NOTIFY_CONTAINER, /* the payload, on a socket that the relay reads */
        NOTIFY_HEALTHY,   /* the first health check that succeeds */
        NOTIFY_IGNORE,    /* nobody, and the payload sees no socket */
} NotifyMode;

/* What a container is to be: a command line whose values have been read, each of them once (launch_args_read()).
 * Everything behind the command line reads this. Strings belong to the LaunchArgs that it was read from, except where
 * a field says so. No list is NULL. */
typedef struct ContainerRequest {
        /* who it is */
        const char *name;
        const char *hostname;         /* NULL: see container_request_hostname(); always, with `uts` */
        const GPtrArray *labels;      /* KEY=VALUE */
        const GPtrArray *annotations; /* KEY=VALUE, none of them reserved (value/annotation.h) */

        /* what runs */
        const char *image; /* a reference, or with `rootfs` a directory */
        const char
                *image_unit; /* what brings it ahead; NULL: nothing does. It is asked where the image is not there, */
        bool image_unit_counts;   /* or always: then it must have succeeded */
        bool users_store;         /* the owner's own store is looked in first */
        GPtrArray *image_stores;  /* owned: directories to look in beside podman's own; NULL: those of storage.conf */
        const char *entrypoint;   /* NULL: the image's; "" clears that; a JSON array; else one word */
        const GPtrArray *command; /* words behind the image */
        const char *user;         /* USER[:GROUP]; NULL: the image's */
        GPtrArray *groups;        /* owned: further groups, each a name or a number */
        bool keep_groups;         /* those that libstart itself has, instead */
        bool init;                /* below an init of the host's: */
        const char *init_path;    /* that one; NULL: catatonit, where Podman looks for it */
        SystemdMode systemd;
        const char *workdir;
        guint32 umask;
        const GPtrArray *env;       /* NAME=VALUE, NAME or PREFIX* */
        const char *env_list;       /* file with more of `env` (value/env-list.h) */
        const GPtrArray *env_files; /* absolute paths */
        const char *timezone;       /* a name, or "local" */

        /* what it sees */
        GPtrArray *mounts;    /* owned, of MountRequest: --volume, --mount, --tmpfs */
        GPtrArray *devices;   /* owned, of DeviceRequest */
        GArray *device_rules; /* owned, of DeviceRule */
        gint64 shm_size;      /* bytes; 0: no limit; -1: not said */
        const char *shm_path; /* the host's directory that is /dev/shm; NULL: a tmpfs of its own */
        ImageVolumes image_volumes;
        StorageLimits storage;
        DnsRequest dns;
        GString *hosts;     /* owned: lines of /etc/hosts */
        bool no_hosts;      /* that file is the image's */
        GPtrArray *secrets; /* owned, of SecretRequest: of two with one target the later one */

        /* what it may do */
        UsernsRequest userns;           /* owned */
        guint64 cap_added, cap_dropped; /* masks as in value/capability.h; only "all" may be in both */
        const char *seccomp_profile;    /* NULL: the default one */
        LabelRequest label;             /* owned */
        const char *apparmor;           /* a profile's name, or "unconfined"; NULL: libstart's own */
        GPtrArray *masked;              /* owned: absolute paths */
        GPtrArray *unmasked;            /* owned: patterns, or SECURITY_UNMASK_ALL */
        GArray *ulimits;                /* owned, of Ulimit */
        GPtrArray *sysctls;             /* owned, of Sysctl */

        /* how systemd has it */
        const char *log_tag;  /* NULL: the unit's name */
        const char *log_path; /* the host's file that output goes to; NULL: where systemd has it go */
        LogDriver log_driver;
        NotifyMode notify;
        int stop_signal; /* 0: the image's */
        HealthRequest health;
        NetworkChoice network;
        const char *network_id; /* what it must have been made for, or NULL */
        NamespaceChoice pid, ipc, uts;
        const char *runtime; /* another OCI runtime's program; NULL: crun's library runs it */
        const char *id_file; /* the host's file that its name is written to; or NULL */

        /* keyturn's own */
        const GPtrArray *hooks; /* as in hook-word.h, in their order */
        const char *state_dir;
        HostAccess host_access; /* its owner is found by the start */

        /* flags, as the options are named */
        bool rootfs; /* `image` is a directory */
        bool env_host, http_proxy;
        bool read_only, read_only_tmpfs;
        bool no_new_privileges;
        bool privileged;    /* all capabilities and devices, no filter that nobody asked for, nothing masked */
        bool guard_devices; /* the unit allows all devices: libstart forbids the others */
        bool own_cgroup;    /* the unit has limits, which the payload is not to lift */
        bool unconfined;    /* no seccomp filter */
        bool host_limits;   /* no limits but the unit's; then there are no ulimits */
        bool interactive;   /* a standard input that never ends, where there is none */
        bool detach;
        bool timing;
} ContainerRequest;

void container_request_clear(ContainerRequest *request);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ContainerRequest, container_request_clear)

/* What asks for the file that keyturn writes to `path` in /etc: "AddHost= (--add-host)"; NULL: nothing. */
const char *container_request_find_key(const ContainerRequest *request, const char *path);

/* That file is below what is mounted on `destination`. Always false. */
bool container_request_refuse_hidden(const ContainerRequest *request, const char *destination, const char *path,
                                     GError **error);

/* The container's host name: as given; else `host_hostname`, the machine's own, with the host's network or host name;
 * else twelve hexadecimal digits, as podman has them, but always the same ones for a container of the same name.
 * Transfer full. */
char *container_request_hostname(const ContainerRequest *request, const char *host_hostname);
