/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/request/launch-args.h"

/* A container, as its generated unit and systemd know it. */
typedef struct ContainerUnit {
        char *unit;           /* "camera.service" */
        LaunchArgs *args;     /* what libstart is called with, systemd's specifiers replaced */
        bool is_refused;      /* its file cannot be started any more: of `args`, only name and state are known */
        bool is_masked;       /* and that is why */
        char *active;         /* ActiveState= */
        char *state;          /* the same in more words: "active (running)", "failed (exit status 125)" */
        char *cgroup;         /* below /sys/fs/cgroup; "" if it does not run */
        guint32 pid;          /* of the payload; 0 */
        int kill_signal;      /* KillSignal= */
        guint64 stop_timeout; /* TimeoutStopSec= in microseconds; G_MAXUINT64: for ever */
        guint64 since;        /* when the state was entered: microseconds since 1970, 0: never */
        guint64 begin;        /* of the last start: microseconds since the kernel's, 0: none */
        guint64 end;          /* when it became active, the same */
        guint64 main_start;   /* when systemd was told of the payload, the same */
        guint32 restarts;     /* by Restart= */
        char *source;         /* the file that it is made from */
        guint64 start;        /* microseconds from the beginning of the last start to "active", 0: not known */
} ContainerUnit;

/* The last boot: microseconds since the kernel's start. */
typedef struct BootTimes {
        guint64 userspace;
        guint64 finish; /* 0: not yet */
} BootTimes;

bool boot_times_read(BootTimes *ret, GError **error);

void container_unit_free(ContainerUnit *container);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ContainerUnit, container_unit_free)

/* Its `args` and `is_refused`, of the words of ExecStart=; `args` stays NULL where these are of no container. They
 * must have a name, by which its state is found: else libstart makes one up. */
bool container_unit_read_words(ContainerUnit *container, char **words, GError **error);

/* What shows what it has said: journalctl's option for a user's does not do on machines without journals of users.
 * Transfer full. */
char *container_unit_print_logs(const ContainerUnit *container);

/* Whether it is libstart that has started what runs. Else it was Podman, before keyturn has taken the file over. */
bool container_unit_is_started(const ContainerUnit *container);

/* All that keyturn-generator has made services of, and the instances of templates that are loaded; sorted by unit. Of
 * one that cannot be understood a warning is logged. Array of ContainerUnit.
 *
 * name: only that of the unit NAME or NAME.service, if there is one, and then it must be understood; or NULL. */
GPtrArray *container_units_find(const char *name, GError **error);

/* That one: by its unit, with or without ".service", its own name, or its file's, "web.container". Borrowed from
 * `all`, what container_units_find() has found for the same name. */
const ContainerUnit *container_units_get(const GPtrArray *all, const char *name, GError **error);

/* "/run/keyturn/camera". Transfer full. */
char *container_unit_state_dir(const ContainerUnit *container);
