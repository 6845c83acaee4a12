/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "generator/unit-names.h"

/* A container that has a directory on /run, so that it runs, and no file any more. */
typedef struct Deleted {
        char *service; /* "camera.service" */
        char *name;    /* of the container */
        guint signal;  /* that stops it, its image's perhaps; 0: not known */
} Deleted;

/* Without a unit it would be stopped by other signals than it was to be, its directory would stay, and nobody would find it by
 * its name. A service that has a unit elsewhere is none of these, unless that is one of image_units: names of those that --install has
 * made, may be NULL. root: "" or a directory that stands for /. Of Deleted, transfer full. */
GPtrArray *deleted_find(const char *root, const UnitNames *names, const GPtrArray *image_units);
