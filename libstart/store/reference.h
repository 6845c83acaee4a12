/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What an image reference can mean, as podman reads it. Pure. */
typedef struct Reference {
        char *id;         /* image id, whole, or its beginning (then with a repository); or NULL */
        char *repository; /* without tag and digest; NULL if it can only be an id */
        char *tag;        /* NULL where a digest decides; else "latest" by default */
        char *digest;     /* "sha256:..." or NULL */
        bool is_short;    /* the repository names no registry */
} Reference;

/* Of a digest or an id beside Store=user. */
#define IMAGE_PINS_NOTHING                                                                                         \
        "a digest or an id says nothing in a user's store, in which that user writes what has it: name a tag, or " \
        "have the image in the system's store alone"

/* The transport of registries. */
#define REFERENCE_DOCKER "docker://"

/* Digits that the beginning of an id must have; `podman images` prints as many. */
#define REFERENCE_ID_MIN 12

/* Fails with KT_ERROR_USAGE for what cannot be a reference, KT_ERROR_UNSUPPORTED for one with a transport
 * ("docker-archive:..."). Transfer full. */
Reference *reference_parse(const char *text, GError **error);

/* Is it an archive ("docker-archive:..."), which no registry knows? Those that a daemon has are none. */
bool reference_is_archive(const char *text);

/* `text` without "docker://", which a registry's name may have in front: a part of it. */
const char *reference_skip_docker(const char *text);

/* Where a reference's repository is looked for: the one repository it names; or for a short name, in this
 * order, alias (NULL if it has none), localhost/NAME, each of registries (NULL for none) and docker.io. Not of
 * an id alone, which has no repository. Transfer full. */
char **reference_repositories(const Reference *reference, const char *alias, char *const *registries);

/* "repository:tag" or "repository@digest". Transfer full. */
char *reference_name(const Reference *reference, const char *repository);

void reference_free(Reference *reference);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Reference, reference_free)
