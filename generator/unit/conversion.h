/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/keyturn-conf.h"
#include "generator/files/load.h"
#include "generator/files/unit-names.h"
#include "generator/unit/service.h"
#include "libstart/request/launch-args.h"

typedef enum FindingKind {
        FINDING_WARNING,
        FINDING_DIFFERENCE, /* a warning that Podman makes something else of it */
        FINDING_PROBLEM,
} FindingKind;

/* What is wrong with a file, or strange. */
typedef struct Finding {
        const UnitLine *line; /* NULL: the file as a whole */
        FindingKind kind;
        char *text;         /* "FILE:LINE: 'KEY=': ..." */
        const char *reason; /* of conversion_refusal(), or NULL */
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

void noted_add(GArray *notes, const char *text, const UnitLine *line);

/*
 * Parts: what keys say that only make sense together, noted by their readers
 */

typedef struct ImagePart {
        char *name, *rootfs;
        bool is_made;          /* by a .image or .build file */
        bool is_updated;       /* AutoUpdate= brings new images */
        char *pull;            /* when it is pulled: missing, newer, always or never; NULL: the file does not say */
        GPtrArray *tool_words; /* of char*: options of keyturn-image */
        char *wanted;          /* where an image of this name is there, nothing has to be brought; or NULL */
        bool is_offline;       /* [Quadlet] DefaultDependencies=false */
        Service *puller;       /* the service that pulls, or NULL */
        UnitFile *puller_unit; /* for it: empty */
} ImagePart;

typedef struct NetworkPart {
        bool is_said;        /* the file itself says which, or means the one that Podman would take */
        GArray *made;        /* of Noted: networks that are made for it */
        GArray *wishes;      /* of Noted: what it asks of them, NAME=VALUE */
        GArray *published;   /* of Noted: ports */
        GPtrArray *services; /* of char*: those that make these networks */
        char *unit;          /* makes the network ahead; or NULL */
        char *file;          /* what is written beside the service, and makes the network ahead; or NULL */
        GString *text;       /* and its content */
} NetworkPart;

/* Of a container whose pod it is, or of the pod. */
typedef struct PodPart {
        const SourceFile *file; /* Pod=, or NULL */
        char *service;          /* that makes it; of a template "web-pod@one.service", or "web-pod@%i.service" */
        bool has_ids;           /* it has a user namespace with ids of its own */
        char *share;            /* the namespaces that its containers have in common, "ipc,net,uts" */
        bool stays;             /* it goes on when its last container has stopped */
} PodPart;

/* What a file says in Podman's own words, and its modules. */
typedef struct PodmanPart {
        GArray *args, *global_args; /* of Noted: the words of PodmanArgs= and of GlobalArgs= */
        GArray *modules;            /* of Noted: ContainersConfModule= */
        char **hook_dirs;           /* where one of them says hooks are; or NULL */
        bool keeps_label;           /* one says so, whatever containers.conf says */
} PodmanPart;

typedef struct LimitsPart {
        char *pids, *memory; /* as systemd writes them */
        char *memory_swap;   /* the same, of memory and swap together */
        char *swap;          /* the same, of swap alone */
        unsigned controls;   /* what it needs of the kernel: parts/kernel-control.h */
} LimitsPart;

typedef struct ReloadPart {
        GPtrArray *command; /* of char*: the words of ReloadCmd= */
        int signal;         /* 0: none */
} ReloadPart;

typedef struct LogPart {
        bool has_fields;           /* [Keyturn] LogFields= */
        const UnitLine *file_line; /* with a log driver that has files; or NULL */
        GArray *limits;            /* of Noted: of such a file */
} LogPart;

/* A file on its way to a service: a .container, or a .pod, .volume, .network, .image, .build, .artifact or .kube
 * file, which use fewer of the parts. Whoever converts it (kinds/container-service.h, kinds/resource.h) fills it in.
 */
typedef struct Conversion {
        const SourceFile *source;
        const UnitNames *names;      /* what other files make */
        KeyturnConf *conf;           /* not owned; NULL of a .kube file */
        struct Hooks *hooks;         /* of a .container file, else NULL; not owned */
        struct MachineConf *machine; /* the same */
        const char *section;         /* of the file, that describes it: "Container", "Pod" and so on */
        const struct KeyTable *keys; /* of that section */
        GPtrArray *findings;         /* of Finding; for readers: conversion_findings() */
        bool is_refused;             /* there is a problem among them, and so no service */

        /* what it becomes */
        Service *service;
        LaunchArgs *args;

        ImagePart image;
        NetworkPart network;
        PodPart pod;
        PodmanPart podman;
        LimitsPart limits;
        ReloadPart reload;
        LogPart log;

        char *user, *group;
        GPtrArray *remap; /* of char*: what the Remap keys say, for parts/user-namespace.c */
        char *stop_timeout;
        guint hook_stages; /* of its hooks: bits, as in hook-file.h */
        GArray *sources;   /* of MountSource: mounts_find_sources() */
        bool volatile_tmp;
        bool is_users;                    /* its service is one of a user's manager */
        bool is_early;                    /* [Keyturn] Early= */
        const SourceFile *mounted_volume; /* a .volume file with a Device= that it uses, or NULL */
        const SourceFile *uses_template;  /* a template that it uses, but of containers, or NULL */
} Conversion;

/* With nothing in it. Takes ownership of service_name; source and names must outlive it. */
Conversion *conversion_new(const SourceFile *source, char *service_name, const UnitNames *names);
void conversion_free(Conversion *conversion);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Conversion, conversion_free)

/* The last line of the file that assigns the key in that section, or NULL. */
const UnitLine *conversion_line(const Conversion *conversion, const char *section, const char *key);

/* The last such line with `text` in it, or NULL. */
const UnitLine *conversion_line_with(const Conversion *conversion, const char *section, const char *key,
                                     const char *text);

/* Add a finding; line may be NULL for the file as a whole. */
void conversion_find(Conversion *conversion, const UnitLine *line, FindingKind kind, const char *format, ...)
        G_GNUC_PRINTF(4, 5);

#define conversion_problem(conversion, line, ...) conversion_find(conversion, line, FINDING_PROBLEM, __VA_ARGS__)
#define conversion_warning(conversion, line, ...) conversion_find(conversion, line, FINDING_WARNING, __VA_ARGS__)

/* A warning about what Podman does otherwise, so that a file which is not marked as keyturn's is left to it where its
 * generator is at work. */
#define conversion_difference(conversion, line, ...) \
        conversion_find(conversion, line, FINDING_DIFFERENCE, __VA_ARGS__)

/* Add the lines that cannot be read. */
void conversion_add_syntax_problems(Conversion *conversion);
/* Refuse the key of that line. `reason`, a literal, says why and what to do instead: once in a file, however many
 * keys it is said of. */
void conversion_refusal(Conversion *conversion, const UnitLine *line, const char *reason);

/* All so far, in the order of their lines; those of the file as a whole are last. Transfer none. */
const GPtrArray *conversion_findings(const Conversion *conversion);
