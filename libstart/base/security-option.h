/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum SecurityOptionKind {
        SECURITY_NO_NEW_PRIVILEGES,
        SECURITY_SECCOMP,
} SecurityOptionKind;

typedef struct SecurityOption {
        SecurityOptionKind kind;
        bool enabled;        /* of no-new-privileges; of seccomp: false means unconfined */
        const char *profile; /* of seccomp: absolute path, inside the value that was parsed; else NULL */
} SecurityOption;

/* no-new-privileges[=BOOL], seccomp=unconfined, seccomp=PATH; also with ':', as podman still takes it. */
bool security_option_parse(const char *value, SecurityOption *ret, GError **error);
