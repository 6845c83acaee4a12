/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Which OCI runtime a program is, as far as their command lines differ. It is told by the program's name, which may
 * have more behind it (runsc-debug), as with Podman. */
typedef enum RuntimeKind {
        RUNTIME_CRUN,  /* crun, and krun, which is a link to it */
        RUNTIME_RUNC,  /* runc */
        RUNTIME_RUNSC, /* gVisor's: the payload's kernel is a process of its own, the sandbox */
        RUNTIME_OTHER, /* called as runc is */
} RuntimeKind;

/* Of a path, or of a name alone. */
RuntimeKind runtime_kind_find(const char *program);
