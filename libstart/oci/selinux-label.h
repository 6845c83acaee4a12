/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/label-option.h"

/* SELinux labels ("contexts"), USER:ROLE:TYPE:LEVEL, as Podman gives them to containers: its policy says which types,
 * and a pair of categories in the level keeps containers from each other's files. Text only. */

/* The value of `key` in the policy's file contexts/lxc_contexts ("process", "file", "init_process"). NULL where there
 * is none. Transfer full. */
char *selinux_contexts_find(const char *text, const char *key);

/* The level of a container of this name: s0 with two of 1024 categories, always the same ones. attempt: 0, and more
 * where another container has what came out. Transfer full. */
char *selinux_level_choose(const char *name, unsigned attempt);

/* That of files of containers without a label of their own; nobody else's. */
#define SELINUX_LEVEL_DISABLED "s0:c1022,c1023"

typedef struct SelinuxLabels {
        char *process; /* NULL: none of its own */
        char *file;
} SelinuxLabels;

void selinux_labels_clear(SelinuxLabels *labels);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SelinuxLabels, selinux_labels_clear)

/* process, file: the policy's. level: that of both where the request says none. Fails where the policy's are no
 * labels. */
bool selinux_labels_make(const LabelRequest *request, const char *process, const char *file, const char *level,
                         SelinuxLabels *ret, GError **error);

/* The level of a label; NULL where it is none. Transfer full. */
char *selinux_label_level(const char *label);

/* The same label with level s0, that of files which containers share. Transfer full. */
char *selinux_label_share(const char *label);

/* A tree of files that no container may have, as its label would be lost: a directory of the system's. As Podman has
 * it, plus where today's systems have links to. path: absolute, clean. */
bool selinux_path_is_systems(const char *path);
