/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* What LaunchArgs are (launch-args.h): one field for each option, which launch-option.c describes. A list of options
 * and texts would do without them; but then nobody would check the hundreds of places that name one, or tell a list
 * from a text and a flag. */

typedef enum LaunchFlag {
        FLAG_UNSET, /* the default of podman run applies */
        FLAG_FALSE,
        FLAG_TRUE,
} LaunchFlag;

typedef struct LaunchArgs {
        /* who it is */
        char *name;
        char *hostname;
        GPtrArray *labels;      /* KEY=VALUE */
        GPtrArray *annotations; /* KEY=VALUE */

        /* what runs */
        char *entrypoint;     /* "" clears the image's; a JSON array; else one word */
        char *user;           /* USER[:GROUP] */
        GPtrArray *group_add; /* GROUP[,GROUP...] */
        LaunchFlag init;      /* below an init of the host's */
        char *init_path;      /* which; else catatonit */
        char *systemd; /* is the payload an init itself? true (default: if it is called like one), always, false */
        char *workdir;
        char *umask;          /* octal */
        GPtrArray *env;       /* NAME=VALUE, NAME (from the launcher's environment), PREFIX* */
        GPtrArray *env_files; /* absolute paths, in podman's format */
        LaunchFlag env_host;
        LaunchFlag http_proxy;
        char *timezone; /* local, or a name in the host's zoneinfo */

        /* what it sees */
        LaunchFlag rootfs; /* `image` is a directory instead of an image reference */
        LaunchFlag read_only;
        LaunchFlag read_only_tmpfs;
        GPtrArray *volumes;      /* SOURCE:DESTINATION[:OPTIONS] */
        GPtrArray *mounts;       /* type=…,source=…,destination=… */
        GPtrArray *tmpfs;        /* DESTINATION[:OPTIONS] */
        GPtrArray *devices;      /* [-]SOURCE[:DESTINATION][:PERMISSIONS] */
        GPtrArray *device_rules; /* TYPE MAJOR:MINOR ACCESS */
        LaunchFlag privileged;
        GPtrArray *secrets; /* NAME[,type=TYPE][,target=TARGET][,uid=N][,gid=N][,mode=MODE] */
        char *shm_size;
        char *shm_path;         /* keyturn's own: a directory of the host, which is /dev/shm instead */
        char *pid;              /* private, host */
        char *ipc, *uts;        /* private, host, ns:PATH */
        char *image_volume;     /* anonymous, bind, tmpfs, ignore */
        char *image_unit;       /* [always:]UNIT, keyturn's own: what brings the image ahead */
        char *store;            /* user, system */
        GPtrArray *storage_opt; /* size=SIZE, size=PERCENT%, inodes=NUMBER */
        char *network;          /* host, none, pinned:NAME, owned:NAME, ns:PATH, container:UNIT */
        char *network_id;       /* of pinned:NAME, keyturn's own */
        GPtrArray *add_hosts;   /* NAME[;NAME...]:ADDRESS */
        LaunchFlag no_hosts;    /* /etc/hosts is the image's */
        GPtrArray *dns, *dns_search, *dns_option;

        /* what it may do */
        char *userns;            /* auto[:OPTIONS], keep-id[:OPTIONS], ns:PATH, host */
        char *owner;             /* USER[:GROUP] */
        LaunchFlag dynamic_user; /* ids that nobody has */
        GPtrArray *uidmaps;      /* [FLAGS]INSIDE:[@]OUTSIDE[:COUNT] */
        GPtrArray *gidmaps;
        char *subuidname; /* a user in /etc/subuid */
        char *subgidname;
        GPtrArray *cap_add;
        GPtrArray *cap_drop;
        GPtrArray *security_opt; /* as in security-option.h */
        GPtrArray *ulimits;      /* NAME=SOFT[:HARD] or host */
        GPtrArray *sysctls;      /* NAME=VALUE */

        /* how systemd has it */
        char *log_driver; /* journald (default), passthrough, none */
        GPtrArray *log_opt;
        char *sdnotify;    /* conmon (default: READY=1 once the payload was executed), container, healthy, ignore */
        char *stop_signal; /* told to systemd by the generator; here for the OCI state only */
        /* what is run to see whether it is well: health-request.h */
        char *health_cmd, *health_interval, *health_retries, *health_timeout, *health_start_period,
                *health_on_failure;
        char *health_startup_cmd, *health_startup_interval, *health_startup_retries, *health_startup_success,
                *health_startup_timeout;
        char *health_log_destination, *health_max_log_count, *health_max_log_size;
        LaunchFlag no_healthcheck;
        char *runtime;          /* another OCI runtime's program, which then runs it */
        LaunchFlag interactive; /* standard input stays open */
        LaunchFlag detach;      /* hand the payload over to systemd and exit, rather than wait for it */
        char *cidfile;          /* file that the container's name is written to */

        /* keyturn's own */
        char *env_list;           /* file with more of `env`, in its order (value/env-list.h) */
        char *untrusted_list;     /* file with the directories that payloads can write to (mount/host-path.h) */
        GPtrArray *hooks;         /* files of hooks.d as in hook-word.h, in their order */
        LaunchFlag guard_devices; /* libstart forbids other devices: only the start knows which these are */
        LaunchFlag own_cgroup;    /* the payload's, below the unit's, whose limits are to hold */
        char *state_dir;          /* the container's directory on /run, made and removed by systemd */
        LaunchFlag timing;        /* say where the time of the start went */
        LaunchFlag print_spec;    /* print the OCI config.json and start nothing */

        /* positional */
        char *image;        /* reference, or a directory with --rootfs; may be NULL while options are collected */
        GPtrArray *command; /* words after the image */
} LaunchArgs;
