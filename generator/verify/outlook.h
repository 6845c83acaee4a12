/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* What is right in a file and will hurt all the same: on this machine (or in the tree below root), as it is now. */

/* Warn of a start that can wait for ever. Of the file alone. */
void outlook_check_timeout(const MadeUnit *unit, Report *report);

/* What is known of the machine's images, so that what is true of all files is said once. */
typedef struct Outlook {
        const char *root;
        bool has_podman;     /* which may remove images */
        bool said_no_images; /* that there is no store here at all */
        bool said_prune;
} Outlook;

void outlook_init(Outlook *outlook, const char *root);

/* Warn of a container's image, user, ports, paths and secrets. */
void outlook_check(Outlook *outlook, const MadeUnit *unit, Report *report);
