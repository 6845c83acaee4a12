/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Which part of a start a process is in. Three things say so: how it was born, which program it executed, and its
 * name then. Pure. A payload's names change nothing: whoever was born in a payload is of it. */
typedef enum Part {
        PART_PID1,
        PART_EXECUTOR, /* systemd's processes between PID 1 and the service's program */
        PART_LIBSTART,
        PART_PAYLOAD,
        PART_RELAY,
        PART_KERNEL, /* its threads */
        PART_OTHER,
        PART_IDLE, /* the last: no function of it is of interest */
        N_PARTS,
} Part;

/* What people read, and see. */
extern const struct PartLook {
        const char *name, *colour;
} part_looks[N_PARTS];

typedef struct Process {
        Part part;
        bool is_foreign; /* its files may be others than those that the host has at the same paths */
        bool is_known;   /* by parts_set(), until it ends: not to be told by those who describe what ran before */
        char *name;
} Process;

/* pid: Process. */
typedef GHashTable Parts;

Parts *parts_new(void);

/* A process that ran before. */
void parts_set(Parts *parts, int pid, Part part, bool is_foreign);

/* What happened, in the order in which it did. */
void parts_fork(Parts *parts, int pid, int parent);
void parts_name(Parts *parts, int pid, const char *name, bool is_exec);
void parts_exit(Parts *parts, int pid);

/* Borrowed until the next call. Of one that nobody has told of, PART_OTHER. */
Process *parts_get(Parts *parts, int pid);
