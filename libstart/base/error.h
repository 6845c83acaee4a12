/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* keyturn's one error domain. A code exists only where a caller branches on it; all else is FAILED. */
#define KT_ERROR (error_domain())

typedef enum ErrorCode {
        KT_ERROR_FAILED,
        KT_ERROR_USAGE,          /* the command line is wrong */
        KT_ERROR_NOT_FOUND,      /* what was looked for does not exist: image, executable, file */
        KT_ERROR_NOT_EXECUTABLE, /* the payload exists but cannot be executed */
        KT_ERROR_NO_IMAGE,       /* what brings the image ahead has failed */
        KT_ERROR_UNSUPPORTED,    /* understood, and refused: keyturn does not do this */
        KT_ERROR_NO_NETWORK,     /* nobody has described a network of that name */
        KT_ERROR_TAKEN,          /* another container has this port or address */
        KT_ERROR_UNTRIED,        /* no process or memory to try it with, which says nothing of the thing itself */
} ErrorCode;

GQuark error_domain(void);

/* What an errno value means. Not g_strerror(): that converts from the locale's character set, for which iconv reads
 * files and may load a library. In a container's process, once it is in the container's root, they would be the
 * image's. */
const char *error_describe(int errnum);

/* Before EAGAIN of who makes a process. */
#define ERROR_TOO_FEW_TASKS \
        "Too few tasks for its service (TasksMax=, PidsLimit=), for its user, or for the machine: "

/* Behind what failed by EDQUOT or ETOOMANYREFS: not one of root's, and nothing that this process could give back. */
#define ERROR_USED_UP " (a payload may have used it up, see THE KERNEL'S LIMITS in keyturn-user-generator(8))"

/* Set *error and return false, so that a failing function can end in `return error_set(...)`. */
bool error_set(GError **error, ErrorCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The same from an errno value (positive), which is appended as text: "format: No such file or directory".
 * ENOENT becomes KT_ERROR_NOT_FOUND, everything else KT_ERROR_FAILED. */
bool error_set_errno(GError **error, int errnum, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* For who returns a pointer: NULL, or a descriptor, a process and the like: -1. */
#define error_null(...) (error_set(__VA_ARGS__), NULL)
#define error_null_errno(...) (error_set_errno(__VA_ARGS__), NULL)
#define error_negative(...) (error_set(__VA_ARGS__), -1)
#define error_negative_errno(...) (error_set_errno(__VA_ARGS__), -1)

/* What is put before an error that somebody else has set: false, or NULL. */
#define error_prefix(...) (g_prefix_error(__VA_ARGS__), false)
#define error_prefix_null(...) (g_prefix_error(__VA_ARGS__), NULL)
