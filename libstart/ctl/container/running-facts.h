/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/ctl/container/container-units.h"
#include "libstart/ctl/container/payload.h"
#include "libstart/store/image.h"

/* What neither the unit nor systemd tells of a container. Each is NULL where it is not known: it does not run, or we
 * are not root. */
typedef struct RunningFacts {
        libcrun_container_t *config; /* that it was started with */
        const char *image_id;        /* of the image that runs, whatever its name means now; of `config` */
        StoreImage *image;           /* the same in its store, if it is there yet */
        char *created;               /* of the image, ISO 8601 */
        char *addresses;             /* payload.h */
        char *memory;                /* of the control group, in bytes; needs the memory controller */
        char *cpu_ms;                /* that its processes have used */
} RunningFacts;

void running_facts_find(const ContainerUnit *container, RunningFacts *ret);
void running_facts_clear(RunningFacts *facts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunningFacts, running_facts_clear)

/* When an image was made, as its configuration says it; NULL: it does not. Transfer full. */
char *image_find_created(const StoreImage *image);
