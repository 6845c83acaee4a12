/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/user.h"
#include "libstart/userns/user-namespace.h"

/* Podman's local volumes, which are keyturn's too: GRAPHROOT/volumes/NAME/_data. All but _data is root's alone.
 * Podman also has a record of each in its database, keyturn has not (podman-record.h). A volume that Podman does not
 * know is taken over, with its files, when it is first asked to create or to use it. */

/* GRAPHROOT/volumes, as storage.conf has it. Transfer full. */
char *volume_directory(GError **error);

/* For who removes volumes or exchanges them, one at a time: waits, and holds it until the descriptor is closed. -1
 * with an error. */
int volumes_lock(const char *directory, GError **error);

/* Where its files are. Transfer full. */
char *volume_path(const char *directory, const char *name);

/* Before the name of a volume that is elsewhere while Podman's record of it is removed (podman-record.h). None of
 * Podman's has a name that begins with a dot. */
#define VOLUME_ASIDE ".keyturn-"

/* The volume's own directory, which is made with its _data if it is not there, and not aside either. Returns a
 * descriptor, or -1. */
int volume_open(const char *directory, const char *name, GError **error);

/* Fails where a Device= was mounted in this boot, and is not any more: what is written then would be on another disk,
 * and hidden as soon as it is mounted again. */
bool volume_check_mounted(int volume, const char *name, GError **error);
/* With the service that this process is of, of which volume_has_mounted() is true then. */
bool volume_note_mounted(const char *name, GError **error);
bool volume_has_mounted(const char *name);
bool volume_forget_mounted(const char *name, GError **error);

/* The files of a volume that volume_open() gave: a descriptor that can be read, or -1. */
int volume_open_data(int volume, const char *name, GError **error);

/* Whether it has neither an owner yet nor been used: so is one that somebody was stopped half-way of making. */
bool volume_is_new(int volume, int data);

/* What a container brings to a volume that none has used before. */
typedef struct VolumeUse {
        int root_fd;             /* its root */
        const char *destination; /* in there */
        bool no_copy;
        bool is_read_only;
        const UserIdentity *user;   /* owner, where the image has no such directory */
        const UserNamespace *users; /* whose ids are all that the image's files may belong to; NULL: any may */
        const char *label;          /* SELinux's, of what all containers may use; NULL: none */
} VolumeUse;

/* The first use of a volume: what the image has at the destination is copied into it, if it is empty, and it gets the
 * owner and mode of that directory. Never again after that, even if the volume is empty then; but one that is as it
 * was made after somebody who only reads is new to the next one. A start that is interrupted leaves what the next one
 * completes. One that is made at the same time waits. */
bool volume_use(int volume, const char *name, const VolumeUse *use, GError **error);
