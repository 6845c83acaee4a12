/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/store/image-list.h"
#include "libstart/store/reference.h"
#include "libstart/store/store-conf.h"

/* Which image a reference means, among those that the stores list. */
typedef struct ImageSearch {
        const StoreConf *conf;
        const Reference *reference;
        GArray *indexes; /* the stores' lists, as they were when the search was opened */
} ImageSearch;

typedef struct ImageMatch {
        unsigned store;            /* number of the store in conf->stores */
        unsigned next;             /* number of the record after this one in its store */
        const ImageRecord *record; /* belongs to the search; NULL: nothing was found */
        char *name;                /* under which it was found, or its id; to be freed */
} ImageMatch;

/* Takes conf and reference, which must stay; looks which lists there are. */
bool image_search_open(ImageSearch *search, GError **error);
void image_search_clear(ImageSearch *search);

/* Without parsing whole lists. False: image_search_find() must tell. Both set all of *ret, also where nothing is
 * found; its name is to be freed then, too. */
bool image_search_find_quickly(const ImageSearch *search, ImageMatch *ret);

/* KT_ERROR_NOT_FOUND with the names that were tried and those that are there. */
bool image_search_find(const ImageSearch *search, ImageMatch *ret, GError **error);

/* The first image that has a manifest with this digest. */
bool image_search_find_manifest(const ImageSearch *search, const char *digest, ImageMatch *match);

/* Are the lists still those that were read? */
bool image_search_is_current(const ImageSearch *search);
