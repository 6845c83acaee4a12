/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The SELinux label of all files in a new file system: an option of its mount. */
typedef struct MountLabel {
        const char *option; /* "context", or "rootcontext": of the root alone, and files can be labelled */
        const char *text;   /* NULL: without one; nothing is done then */
} MountLabel;

#define MOUNT_LABEL_NULL { .option = "context" }

/* To what fsopen(2) has opened. False with errno. */
bool mount_label_configure(const MountLabel *label, int context);

/* To options of mount(2), in front of them or behind. */
void mount_label_append(const MountLabel *label, GString *options);

/* To one file or directory. Best effort, as it is only of use where the file system knows labels. */
void mount_label_set(const MountLabel *label, int fd);
