/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/container/commands.h"

/*
 * New images for containers that run, for AutoUpdate=. Containers with the same image are updated together, as the
 * name can be that of one image only:
 *
 *   look       which digest has the registry? Whatever fails up to here has changed nothing.
 *   pull       the new image takes over the name, when all of it is there; the old one stays in the store without a
 *              name
 *   restart    each container, and wait until it works
 *   roll back  where one does not: the old image gets its name back, all are started with it, the new image is
 *              removed, and its digest written down, so that it is not tried again by itself (libstart/image/notes.h)
 *
 * A container that does not run is left alone. But who updates writes down which image was there before. Where that
 * is found written down, an update was interrupted (a power cut, a signal), and the next one first sees whether the
 * new image works. At boot that is keyturn-update-resume.service, for which there is a file as long as something is
 * written down. Where no container says anything of the new image, because none has run since, it stays written down,
 * until no container has the name any more.
 */

typedef struct UpdateMember {
        ContainerUnit *container;
        const char *policy;  /* "registry", "image" (the same) or "local" */
        char *running;       /* id of the image that it runs, or NULL */
        const char *updated; /* in Podman's words */
        char *problem;
} UpdateMember;

/* With registry and tag, where its policy is not "local" or it has them. Transfer full; NULL with an error. */
char *update_find_name(const char *image, bool is_of_registry, GError **error);

/* All of the members that have this image and whose `updated` is not said yet. Says it, and the problem, of each.
 * What is_asked_for is tried again where it was rolled back. Never fails: look at the members. */
void update_image(const char *image, GPtrArray *members, const Options *options, bool is_asked_for);
