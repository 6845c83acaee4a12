/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/short-names.h"

/* The command lines of the programs that bring images. What a file says is always the value of an option
 * (--name=VALUE), or stands behind "docker://" or "--": it can be no option itself. Pure. */

/* Where skopeo puts images. */
#define LOCAL_STORE "containers-storage:"

/* The words up to NULL, copied. Array of char*, without NULL at its end, as are all of these. Transfer full. */
GPtrArray *tool_words(const char *first, ...) G_GNUC_NULL_TERMINATED;

/* What is to be pulled; as podman pull and podman artifact pull have it. Strings may be NULL. */
typedef struct PullRequest {
        char *reference; /* a name, or an archive with its transport */
        char *artifacts; /* it is no image, but an artifact, which gets into this directory; or NULL */
        char *tag;       /* the name that it gets in the store; NULL: its own */
        char *policy;    /* missing, newer, always, never */
        char *arch, *os, *variant;
        char *authfile, *cert_dir, *decryption_key, *tls_verify;
        char *retry_delay;
        int retry; /* how often it is tried again; < 0: as podman has it */
        gboolean all_tags, offline;
        char **podman_args, **global_args; /* options of podman's */
} PullRequest;

#define PULL_RETRY_DEFAULT 3 /* podman's */

/* The name that is pulled: of one without a registry, what registries.conf says. Podman asks at a terminal where it
 * could be several; this fails, as Podman does without a terminal, and for an id: KT_ERROR_USAGE. Transfer full. */
char *pull_find_name(const char *reference, const ShortNames *names, GError **error);

/* Is podman needed, as skopeo has no such option? */
bool pull_needs_podman(const PullRequest *request);

/* name: of pull_find_name(); the archive where it is one. Transfer full. */
GPtrArray *pull_words_skopeo(const PullRequest *request, const char *name);
GPtrArray *pull_words_podman(const PullRequest *request, const char *name);

/* What the registry has under that name: its manifest on standard output. Transfer full. */
GPtrArray *inspect_words(const PullRequest *request, const char *name);

/* program: podman or buildah; cache: steps whose images are there need not be done; args: options of `podman build`,
 * which buildah has, too, and the directory. Transfer full. */
GPtrArray *build_words(const char *program, char *const *global_args, bool cache, char *const *args);
