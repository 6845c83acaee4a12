/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define CDI_NOT_SAID (-1)

typedef struct CdiNode {
        char *path, *host_path;              /* host_path: NULL for the same */
        char type;                           /* 'b', 'c', or 0 for what is on the host */
        gint64 major, minor, mode, uid, gid; /* CDI_NOT_SAID, or numbers */
        char access[4];
} CdiNode;

typedef struct CdiMount {
        char *host_path, *path, *type; /* type: NULL for a bind mount */
        GPtrArray *options;            /* of char* */
} CdiMount;

typedef struct CdiHook {
        char *stage, *program;
        GPtrArray *args, *env; /* of char* */
        bool has_env;
        guint64 timeout; /* seconds; 0: none */
} CdiHook;

/* What a device needs. */
typedef struct CdiEdits {
        GPtrArray *env;    /* of char*, NAME=VALUE */
        GPtrArray *nodes;  /* of CdiNode */
        GPtrArray *mounts; /* of CdiMount */
        GPtrArray *hooks;  /* of CdiHook */
        GArray *gids;      /* of guint32 */
} CdiEdits;

typedef struct CdiDevice {
        char *name;
        CdiEdits *edits;
} CdiDevice;

/* A file of CDI, up to version 1.0.0. */
typedef struct CdiFile {
        char *kind;         /* VENDOR/CLASS */
        CdiEdits *edits;    /* what each of its devices needs */
        GPtrArray *devices; /* of CdiDevice */
} CdiFile;

/* text: of the file, JSON. Fails with KT_ERROR_FAILED, or KT_ERROR_UNSUPPORTED for what keyturn does not do. */
CdiFile *cdi_file_parse(const char *text, gsize length, GError **error);
void cdi_file_free(CdiFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CdiFile, cdi_file_free)

/* NULL where the file has no such device. Transfer none. */
const CdiEdits *cdi_file_find(const CdiFile *file, const char *name);
