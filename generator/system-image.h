/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/keyturn-conf.h"
#include "generator/files/load.h"
#include "generator/parts/hooks.h"
#include "generator/unit/writer.h"

/* What one run of the generator has to do with the units of a system image: it makes them (--install), or finds that
 * there is nothing to be made, or that some of them are out of date. They are where systemd looks anyway; a list
 * beside keyturn's programs says which there are, and what they were made of. Times say nothing about files of an
 * image, so what they hold is compared. */
typedef struct SystemImage {
        const char *root;         /* "" or a directory that stands for / */
        bool is_built;            /* --install */
        GPtrArray *before;        /* of char*: units, links and other files that are there; NULL: it has none */
        char *before_digest;      /* of what they were made of */
        unsigned before_controls; /* what of the kernel they need: parts/kernel-control.h */
        char *digest;             /* of what units are made of now; NULL: that cannot be compared */
        GPtrArray *written;       /* of char*; NULL: nobody asks */
} SystemImage;

/* is_built: they are to be made now. tree: NULL where nobody cares what is in the image already. False with an error
 * where the list cannot be read: then none is current, and `before` has the services that are there. */
bool system_image_open(SystemImage *image, const char *root, bool is_built, const Tree *tree, GError **error);
void system_image_clear(SystemImage *image);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SystemImage, system_image_clear)

/* Have its units been made of the same files, and need they nothing that is missing (kernel-control.h)? Then there is
 * nothing to be made. Asked once. */
bool system_image_is_current(SystemImage *image, const Tree *tree, const Sources *sources, KeyturnConf *conf,
                             Hooks *hooks, unsigned missing);

/* Before the first unit is written: with --install those that are there are removed. */
void system_image_begin(SystemImage *image, Writer *writer);

/* Mask those of an image that are not made any more: units of files that are gone, and what pulled them in. */
void system_image_mask_others(const SystemImage *image, Writer *writer);

/* With --install, when all is written: compile the filters, and leave the list; with one error, there are none.
 * controls: what the units need of the kernel. False with an error, or where `ok` is false. */
bool system_image_finish(const SystemImage *image, unsigned controls, bool ok, GError **error);
