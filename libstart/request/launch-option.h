/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "libstart/request/launch-fields.h"
#include "libstart/request/request.h"

/* The table of the options that LaunchArgs and ContainerRequest know: their names, where their values are kept, and
 * what reads them. For launch-args.c, which goes from words to values and back, launch-request.c, which goes from
 * values to what they mean, and who looks at options whichever they are; who means one names its field. */

typedef enum LaunchOptionKind {
        LAUNCH_OPTION_STRING,
        LAUNCH_OPTION_LIST,
        LAUNCH_OPTION_FLAG,
} LaunchOptionKind;

typedef struct LaunchOption {
        const char *name; /* "--name" */
        char letter;      /* podman's one-letter form, or 0 */
        LaunchOptionKind kind;
        size_t offset; /* in LaunchArgs */
        bool (*check)(const char *value, GError **error);
        bool (*read)(ContainerRequest *request, const char *value, GError **error);
        size_t kept; /* in ContainerRequest: where the value goes as it is; or LAUNCH_OPTION_NOT_KEPT */
        const char *metavar;
        const char *help; /* NULL: another name of the option before it */
} LaunchOption;

#define LAUNCH_OPTION_NOT_KEPT G_MAXSIZE

extern const LaunchOption launch_options[];
extern const size_t n_launch_options;

/* By its name without dashes, which need not end there, or by its letter. NULL: there is none. */
const LaunchOption *launch_option_find(const char *name, size_t length);
const LaunchOption *launch_option_find_letter(char letter);

/* Where `args` has its value: a char *, a GPtrArray * or a LaunchFlag. */
static inline void *launch_option_field(const LaunchArgs *args, const LaunchOption *option) {
        return (char *) args + option->offset;
}

/* Checks the value, and puts what it means into the request, where something reads it. Errors name the option. */
bool launch_option_read(const LaunchOption *option, ContainerRequest *request, const char *value, GError **error);
