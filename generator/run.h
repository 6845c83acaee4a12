/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/files/keyturn-conf.h"
#include "generator/parts/filters-needed.h"
#include "generator/parts/hooks.h"
#include "generator/parts/machine-conf.h"
#include "generator/parts/untrusted-paths.h"
#include "generator/unit/writer.h"

/* What one run of the generator knows, and what has come of it so far. */
typedef struct Run {
        const char *root;      /* "" or a directory that stands for / */
        const char *directory; /* where the units will be found; absolute */
        bool is_dry;           /* --dry-run: nothing is written */
        bool is_install;       /* --install: what is written is for every boot */
        bool beside_podman;    /* Podman's generator takes some of the files */
        const Tree *tree;
        KeyturnConf *conf;
        Hooks *hooks;
        FiltersNeeded *filters;
        UntrustedPaths *untrusted;
        MachineConf *machine;
        const UnitNames *names;
        unsigned missing;             /* that the kernel cannot keep containers to; bits of KernelControl */
        const GPtrArray *image_units; /* names of units that --install has made; NULL where it has not */
        Writer *writer;
        Writer *late; /* for what is there only where nobody else has its name */

        GHashTable *refused;       /* names of services whose start is to say why */
        GHashTable *refused_kubes; /* paths of .kube files, and what is wrong with each, or with a part */
        GHashTable *refused_parts; /* the parts of them, of SourceFile, that something is wrong with */

        unsigned controls; /* what of the kernel the containers need; bits of KernelControl */
        bool has_unit;     /* at least one was made */
        bool has_updates;  /* at least one has AutoUpdate= */
        bool failed;
} Run;

/* Say what is wrong, and go on: a file that is broken takes nothing from the others. */
void run_fail(Run *run, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Say what was found in a file. A part of a .kube file that is refused is noted. */
void run_report(Run *run, const Conversion *container);
