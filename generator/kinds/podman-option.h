/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "generator/unit/container.h"

/* What becomes of an option of Podman's command line that stands in PodmanArgs= or GlobalArgs=. */

typedef char *PodmanConvert(const char *value, GError **error);
typedef bool PodmanApply(Container *container, const char *value, GError **error);

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
        PodmanConvert *convert;
        PodmanApply *apply;  /* what else it does */
        const char *warning; /* in what it differs from podman's */
        const char *fine;    /* values that say what keyturn does anyway, with blanks between; "*": all */
        const char *advice;  /* else it is refused, and this is to be done instead */
} PodmanOption;

#define KEY(name) .key = (name)
#define SETTING(name, function) .setting = (name), .convert = (function)
#define APPLY(function) .apply = (function)
#define FINE(values) .fine = (values)
#define ADVICE(text) .advice = (text)
#define FINE_OR(values, text) .fine = (values), .advice = (text)
#define GLOBAL .is_global = true

/* All options of a command that libstart does not have itself. */
typedef struct PodmanOptions {
        const char *command; /* "podman run" */
        const PodmanOption *options;
        size_t n_options;
        bool has_libstarts; /* those of launch-option.c are taken as they are */
} PodmanOptions;
