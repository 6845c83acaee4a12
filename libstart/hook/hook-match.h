/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/hook/hook-file.h"

/* GLib's regular expressions bring a library that is as large as half of libstart. So libstart does not link this
 * file: what keyturn-generator cannot know, libstart asks the program keyturn-hooks. */

typedef enum HookAnswer {
        HOOK_NO,
        HOOK_MAYBE,
        HOOK_YES,
} HookAnswer;

/* What of a container decides whether a hook is for it. */
typedef struct HookTarget {
        const GPtrArray
                *annotations; /* KEY=VALUE: those that the file asks for. Labels and the image's have no say, as with
                                       * Podman: else an image's author could choose what is run as root. */
        const char *command;  /* the first word of what is executed; NULL: not known yet */
        HookAnswer has_bind_mounts;
        bool is_unexpanded; /* systemd has still to replace specifiers and variables */
} HookTarget;

/* Whether all its patterns are regular expressions. Fails with KT_ERROR_FAILED and the one that is none. */
bool hook_file_check_patterns(const HookFile *file, GError **error);

/* Whether the hook is for the container. Patterns that are none fit nothing. */
HookAnswer hook_file_match(const HookFile *file, const HookTarget *target);
