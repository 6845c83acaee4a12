/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/image-units.h"

/* What one run of the generator has to do with the units of a system image: it makes them (--install), or finds that
 * there is nothing to be made, or that some of them are out of date. */
typedef struct SystemImage {
        const char *root; /* "" or a directory that stands for / */
        bool is_built;    /* --install */
        ImageUnits *before;
        char *digest;       /* of what units are made of now */
        GPtrArray *written; /* of char*; NULL: nobody asks */
} SystemImage;

/* is_built: they are to be made now. tree: NULL where nobody cares what is in the image already. */
void system_image_open(SystemImage *image, const char *root, bool is_built, const Tree *tree);
void system_image_clear(SystemImage *image);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SystemImage, system_image_clear)

/* Have its units been made of the same files, and need they nothing that is missing (kernel-control.h)? Then there is
 * nothing to be made. Asked once. */
bool system_image_is_current(SystemImage *image, const Tree *tree, const Sources *sources, KeyturnConf *conf,
                             Hooks *hooks, unsigned missing);

/* Before the first unit is written: with --install those that are there are removed. */
void system_image_begin(SystemImage *image, Writer *writer);

/* Those of an image that are not made any more. */
void system_image_mask_others(const SystemImage *image, Writer *writer);

/* With --install, when all is written: with one error, there are none. controls: what the units need of the kernel.
 * False with an error, or where `ok` is false. */
bool system_image_finish(const SystemImage *image, unsigned controls, bool ok, GError **error);
