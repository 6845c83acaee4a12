/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/keyturn-conf.h"
#include "generator/files/load.h"
#include "generator/files/unit-names.h"
#include "generator/unit/service.h"
#include "libstart/request/launch-args.h"

/* What is wrong with a file, or strange. */
typedef struct Finding {
        const UnitLine *line; /* NULL: the file as a whole */
        bool is_problem;      /* else a warning */
        bool is_difference;   /* a warning that Podman makes something else of it */
        char *text;           /* "FILE:LINE: 'KEY=': ..." */
        const char *reason;   /* of container_refusal(), or NULL */
} Finding;

/* A path of the host that is mounted. */
typedef struct MountSource {
        char *path;    /* as in the file: systemd has yet to expand it */
        bool writable; /* for the payload; also where only systemd can tell */
} MountSource;

/* What a key says, and where. */
typedef struct Noted {
        char *text;
        const UnitLine *line;
} Noted;

/* A .container file on its way to a service. Whoever converts it (kinds/container-service.h) fills it in. */
typedef struct Container {
        const SourceFile *source;
        const UnitNames *names;      /* what other files make */
        KeyturnConf *conf;           /* of a container or pod; not owned */
        struct Hooks *hooks;         /* of a container; not owned */
        struct MachineConf *machine; /* the same */
        Service *service;
        LaunchArgs *args;
        GPtrArray *findings;         /* of Finding; for readers: container_findings() */
        const char *section;         /* of the file, that describes it: "Container" or "Pod" */
        const struct KeyTable *keys; /* of that section */
        bool is_refused;             /* there is a problem among them, and so no service */
        GArray *sources;             /* of MountSource: mounts_find_sources() */

        /* values that only make sense together with others, noted by their keys */
        char *image, *rootfs;
        bool is_image_made;    /* by a .image or .build file */
        bool is_updated;       /* AutoUpdate= brings new images */
        char *pull;            /* when it is pulled: missing, newer, always or never; NULL: the file does not say */
        GPtrArray *tool_words; /* of char*: options of keyturn-image */
        char *wanted_image;    /* where an image of this name is there, nothing has to be brought; or NULL */
        bool is_offline;       /* [Quadlet] DefaultDependencies=false */
        Service *puller;       /* the service that pulls, or NULL */
        UnitFile *puller_unit; /* for it: empty */
        char *user, *group;
        GArray *networks, *network_wishes,
                *published;          /* of Noted: networks that are made for it, what it asks of them
                                                        * (NAME=VALUE), ports */
        GPtrArray *network_services; /* of char*: those that make these networks */
        GPtrArray *podman_args,
                *podman_lines; /* of char*: the words of PodmanArgs=; of const UnitLine*: their lines */
        GPtrArray *global_args, *global_lines; /* the same of GlobalArgs= */
        GArray *modules;                       /* of Noted: ContainersConfModule= */
        GPtrArray *hook_dirs;                  /* of char*: where one of them says hooks are; or NULL */
        bool keeps_label;                      /* one says so, whatever containers.conf says */
        GPtrArray *remap;                      /* of char*: what the Remap keys say, for parts/user-namespace.c */
        char *stop_timeout;
        GPtrArray *reload_cmd;     /* of char*: the words of ReloadCmd= */
        int reload_signal;         /* 0: none */
        char *pids_limit, *memory; /* as systemd writes them */
        char *memory_swap;         /* the same, of memory and swap together */
        unsigned controls;         /* what it needs of the kernel: parts/kernel-control.h */
        guint hook_stages;         /* of its hooks: bits, as in hook-file.h */
        bool has_network;          /* the file itself says which, or means the one that Podman would take */
        char *network_unit;        /* makes the network ahead; or NULL */
        char *network_file;        /* what is written beside the service, and makes the network ahead; or NULL */
        GString *network_text;     /* and its content */
        bool volatile_tmp;
        bool is_users;                 /* its service is one of a user's manager */
        bool is_early;                 /* [Keyturn] Early= */
        bool has_log_fields;           /* [Keyturn] LogFields= */
        const UnitLine *log_file_line; /* with a log driver that has files; or NULL */
        GArray *log_limits;            /* of Noted: of such a file */
        const SourceFile *pod;         /* Pod=, or NULL */
        char *pod_service; /* that makes it; of a template "web-pod@one.service", or "web-pod@%i.service" */
        bool has_pods_ids; /* its pod has a user namespace with ids of its own */
        char *share;       /* of a pod: the namespaces that its containers have in common, "ipc,net,uts" */
        bool stays;        /* of a pod: it goes on when its last container has stopped */
        const SourceFile *mounted_volume; /* a .volume file with a Device= that it uses, or NULL */
        const SourceFile *uses_template;  /* a template of such files that it uses, or NULL */
} Container;

/* With nothing in it. Takes ownership of service_name; source and names must outlive the Container. */
Container *container_new(const SourceFile *source, char *service_name, const UnitNames *names);
void container_free(Container *container);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Container, container_free)

/* The last line of the file that assigns the key in that section, or NULL. */
const UnitLine *container_line(const Container *container, const char *section, const char *key);

/* The last such line with `text` in it, or NULL. */
const UnitLine *container_line_with(const Container *container, const char *section, const char *key,
                                    const char *text);

/* Add a finding; line may be NULL for the file as a whole. */
void container_problem(Container *container, const UnitLine *line, const char *format, ...) G_GNUC_PRINTF(3, 4);
void container_warning(Container *container, const UnitLine *line, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* A warning about what Podman does otherwise, so that a file which is not marked as keyturn's is left to it where its
 * generator is at work. */
void container_difference(Container *container, const UnitLine *line, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Add the lines that cannot be read. */
void container_add_syntax_problems(Container *container);
/* Refuse the key of that line. `reason`, a literal, says why and what to do instead: once in a file, however many
 * keys it is said of. */
void container_refusal(Container *container, const UnitLine *line, const char *reason);

/* All so far, in the order of their lines; those of the file as a whole are last. Transfer none. */
const GPtrArray *container_findings(const Container *container);
