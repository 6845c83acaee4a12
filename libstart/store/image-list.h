/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* One image of a store's images.json. A field that is missing there is NULL here. */
typedef struct ImageRecord {
        char *id;
        char *digest;
        char *layer;             /* id of the uppermost layer */
        GPtrArray *names;        /* of char*: "registry/name:tag" or "registry/name@digest" */
        GHashTable *big_data;    /* char* key ("manifest", "sha256:...") -> char* digest */
} ImageRecord;

/* Parses the text of images.json: an array of ImageRecord* in the order of the file. Pure. */
GPtrArray *image_list_parse(const char *text, size_t length, GError **error);

bool image_record_has_name(const ImageRecord *record, const char *name);

/* Is a manifest with this digest among the image's: that of the image, or of the list it was chosen from? */
bool image_record_has_manifest(const ImageRecord *record, const char *digest);

/* Has it a name in this repository ("registry/name"), whatever the tag? */
bool image_record_has_repository(const ImageRecord *record, const char *repository);
