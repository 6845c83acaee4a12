/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/ctl/container/container-units.h"

/* What the options of keyturnctl ask for. GLib writes a flag as a gboolean. */
typedef struct Options {
        gboolean json;
        gboolean svg;
        gboolean quiet;  /* of list */
        gboolean follow; /* of logs */
        char *lines;     /* of logs: how many */
        char **env;      /* of exec */
        char *user;
        char *workdir;
        gboolean tty;
        int inside;          /* of exec, by systemd: for this process */
        gboolean dry_run;    /* of update */
        gboolean resume;     /* of update: only what was interrupted */
        int watch;           /* seconds */
        char *limit;         /* of cp */
        gboolean files_only; /* of check: nothing of this machine */
        gboolean taken;      /* of check: only what is taken over from Podman */
        gboolean size;       /* of volumes */
        gboolean replace;    /* of install */
        gboolean force;      /* of uninstall */
        gboolean logs;       /* of report */
        char *output;        /* of metrics and profile: a file */
        int seconds;         /* of profile */
        int starts;          /* the same */
        gboolean diff;       /* of profile: two that were made before */
} Options;

/* The commands, one file each: here and in the commands.h of other rooms. Return the exit status; -1 with an error.
 */
int command_health(const GPtrArray *all, const Options *options, char **words, GError **error);
