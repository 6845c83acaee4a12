/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "generator/parts/cgroup-conf.h"

/* What becomes of an option of Podman's command line that stands in PodmanArgs= or GlobalArgs=. */

typedef bool PodmanApply(Conversion *container, const char *value, GError **error);

typedef enum PodmanForm {
        FLAG,
        VALUE,
        LIST, /* values with commas between */
} PodmanForm;

typedef struct PodmanOption {
        const char *name;
        char letter;
        PodmanForm form;
        bool is_global;      /* of `podman`, so that GlobalArgs= may have it, too */
        const char *key;     /* of the section, which says the same */
        const char *setting; /* of [Service], with `convert` */
        CgroupConvert *convert;
        PodmanApply *apply;  /* what else it does */
        const char *warning; /* in what it differs from podman's */
        const char *fine;    /* values that say what keyturn does anyway, with blanks between; "*": all */
        const char *advice;  /* else it is refused, and this is to be done instead */
} PodmanOption;              /* with none of these, libstart has it */

#define KEY(name) .key = (name)
#define SETTING(name, function) .setting = (name), .convert = (function)
#define APPLY(function) .apply = (function)
#define FINE(values) .fine = (values)
#define ADVICE(text) .advice = (text)
#define FINE_OR(values, text) .fine = (values), .advice = (text)
#define GLOBAL .is_global = true
#define NO_COMMAND ADVICE("there is no podman command; remove the option")

/* All options of a command that libstart does not have itself. */
typedef struct PodmanOptions {
        const char *command; /* "podman run" */
        const PodmanOption *options;
        size_t n_options;
        bool has_libstarts; /* those of launch-option.c are taken as they are */
} PodmanOptions;

/* Those of each command, of Podman 5.4, and of `podman` itself. Of [Network] GlobalArgs= alone: what PodmanArgs= has
 * there, keyturn-network takes. */
extern const PodmanOptions podman_run, podman_pod_create, podman_volume_create, podman_network_create;

/* What PodmanArgs= and GlobalArgs= say, whose words their keys have noted. libstart's own options are passed on,
 * those that say what a key says go to the key, and a few become settings of [Service]. Any other one of `podman` and
 * of the command is refused, with what to write instead. Called after the keys of the section have been applied, as
 * on Podman's command line: what is said here counts. `known`: the options of the command. */
void podman_args_apply(Conversion *container, const PodmanOptions *known);
