/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/keyturn-conf.h"
#include "generator/files/load.h"
#include "generator/parts/hooks.h"
#include "generator/unit/writer.h"

/* Units that were made when a system image was built (--install). They are where systemd looks anyway; a list beside
 * keyturn's programs says which there are, and what they were made of. As long as that is so, the generator has
 * nothing to do at boot. Times say nothing about files of an image, so what they hold is compared. */
typedef struct ImageUnits {
        char *digest;
        unsigned controls; /* what of the kernel they need: parts/kernel-control.h */
        GPtrArray *names;  /* of char*: units, links and other files */
} ImageUnits;

/* NULL where there are none. */
ImageUnits *image_units_read(const Tree *tree);
void image_units_free(ImageUnits *units);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ImageUnits, image_units_free)

/* Of all that units are made of. NULL where that cannot be compared: OCI hooks and the files of
 * ContainersConfModule= are the business of others, who may change them. Transfer full. */
char *image_units_digest(const Tree *tree, const Sources *sources, KeyturnConf *conf, Hooks *hooks);

/* Mask those that are not made any more: units of files that are gone, and what pulled them in. */
void image_units_mask_others(const ImageUnits *units, Writer *writer);

/* Remove units of these names, and the list. root: "" or a directory that stands for /. */
void image_units_remove(const GPtrArray *names, const char *root);

/* Compile the filters that the units need, and leave the list; units->digest may be NULL. */
bool image_units_finish(const char *root, const ImageUnits *units, GError **error);
