/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* When a hook is run. The last seven are the runtime's (the OCI runtime spec says where), and the first is Podman's
 * own: what is to become of the container is given to the hook, which prints what is to become of it instead. */
typedef enum HookStage {
        HOOK_PRECREATE,
        HOOK_PRESTART,
        HOOK_CREATE_RUNTIME,
        HOOK_CREATE_CONTAINER,
        HOOK_START_CONTAINER,
        HOOK_POSTSTART,
        HOOK_POSTSTOP,
        HOOK_N_STAGES,
} HookStage;

/* Such a hook is a program of the image's, beside the first process of the container while that is still
 * keyturn's: it could open the file that root executes on the host, and what is open there (base/own-program.c). */
#define HOOK_IS_IN_THE_CONTAINER                                                                                    \
        "keyturn runs no startContainer hooks, as these are programs of the image's beside its own process; write " \
        "createContainer, or have Exec= run the program first"

/* HOOK_N_STAGES for what is none. */
HookStage hook_stage_find(const char *name);

typedef enum HookCondition {
        HOOK_NOT_SAID,
        HOOK_FALSE,
        HOOK_TRUE,
} HookCondition;

/* A pair of regular expressions; of these only hook-match.h knows whether they are some. */
typedef struct HookAnnotation {
        char *key, *value;
} HookAnnotation;

/* A file of hooks.d: oci-hooks(5) of version 1.0.0. */
typedef struct HookFile {
        char *program;   /* absolute */
        GPtrArray *args; /* of char*, with the program's name; empty: the program's path */
        GPtrArray *env;  /* of char*; see has_env */
        bool has_env;    /* else the hook has the caller's */
        guint64 timeout; /* seconds; 0: none */
        guint stages;    /* bits, 1 << HookStage */

        HookCondition always, has_bind_mounts;
        GArray *annotations; /* of HookAnnotation */
        GPtrArray *commands; /* of char*: regular expressions */
} HookFile;

/* text: of the file. Fails with KT_ERROR_FAILED, or KT_ERROR_UNSUPPORTED for an older version, and what to do. */
HookFile *hook_file_parse(const char *text, gsize length, GError **error);
void hook_file_free(HookFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HookFile, hook_file_free)

/* The same from a file of that path, which the error names. KT_ERROR_NOT_FOUND where there is none. */
HookFile *hook_file_read(const char *path, GError **error);
