/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* One of an image's manifests: its key among the image's files ("manifest", "manifest-sha256:...") and
 * digest. */
typedef struct ManifestRecord {
        const char *key;
        const char *digest;
} ManifestRecord;

/* One image of a store's images.json. A field that is missing there is NULL here. */
typedef struct ImageRecord {
        const char *id;
        const char *digest;
        const char *layer; /* id of the uppermost layer */
        GPtrArray *names;  /* of const char*: "registry/name:tag" or "registry/name@digest" */
        GArray *manifests; /* of ManifestRecord */
} ImageRecord;

typedef struct ImageList {
        GPtrArray *records;    /* of ImageRecord*, in the order of the file */
        GStringChunk *strings; /* all that is in the records */
} ImageList;

/* Parses the text of images.json; an empty one is an empty list. Pure. */
ImageList *image_list_parse(const char *text, size_t length, GError **error);

/* Only the first image with this name, by a search for the name in the text, so that everything else need
 * not be parsed. The list has one record; NULL: the whole text must tell, which may not be as
 * containers-storage writes it, or not have the name, or be damaged. Pure. */
ImageList *image_list_find_name(const char *text, size_t length, const char *name);

void image_list_free(ImageList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImageList, image_list_free)

bool image_record_has_id(const ImageRecord *record, const char *id);
bool image_record_has_id_prefix(const ImageRecord *record, const char *prefix);
bool image_record_has_name(const ImageRecord *record, const char *name);

/* Is a manifest with this digest among the image's: that of the image, or of the list it was chosen from? */
bool image_record_has_manifest(const ImageRecord *record, const char *digest);

/* Has it a name in this repository ("registry/name"), whatever the tag? */
bool image_record_has_repository(const ImageRecord *record, const char *repository);

/* The digest of the manifest under a key, or NULL. */
const char *image_record_manifest(const ImageRecord *record, const char *key);
