/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum SecurityOptionKind {
        SECURITY_NO_NEW_PRIVILEGES,
        SECURITY_SECCOMP,
        SECURITY_MASK,
        SECURITY_UNMASK,
        SECURITY_LABEL,
        SECURITY_APPARMOR,
} SecurityOptionKind;

typedef struct SecurityOption {
        SecurityOptionKind kind;
        bool enabled;     /* of no-new-privileges; of seccomp: false means unconfined */
        const char *text; /* what is behind the option's name, inside the value that was parsed; or NULL */
} SecurityOption;

#define SECURITY_UNMASK_ALL "ALL" /* of unmask, in place of a path */

/* no-new-privileges[=BOOL], seccomp=unconfined, seccomp=PATH; also with ':', as podman still takes it.
 * mask=PATH[:PATH...] and unmask=PATTERN[:PATTERN...]: paths are absolute, where podman leaves out those that are
 * not; patterns are glob(7)'s, with ^ alone for a negation and without classes, or ALL. label=OPTION
 * (label-option.h). apparmor=PROFILE. */
bool security_option_parse(const char *value, SecurityOption *ret, GError **error);
