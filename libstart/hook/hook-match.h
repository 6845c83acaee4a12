/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/hook/hook-file.h"

/* What of a container decides whether a hook is for it. */
typedef struct HookTarget {
        const GPtrArray
                *annotations; /* KEY=VALUE: those that the file asks for. Labels and the image's have no say, as with
                                       * Podman: else an image's author could choose what is run as root. */
        const char *command;  /* the first word of what is executed; NULL: not known yet */
        bool has_bind_mounts;
        bool is_unexpanded; /* systemd has still to replace specifiers and variables */
} HookTarget;

/* Whether the hook is for the container; of what is not known yet, whether it can be. */
bool hook_file_matches(const HookFile *file, const HookTarget *target);
