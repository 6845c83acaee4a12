/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "libstart/base/error.h"

GQuark error_domain(void) {
        return g_quark_from_static_string("keyturn");
}

bool error_set(GError **error, ErrorCode code, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        g_set_error_literal(error, KT_ERROR, (int) code, message);
        return false;
}

const char *error_describe(int errnum) {
        if (errnum == ENOSYS) /* where no older way is left to try */
                return "this kernel lacks a system call; Linux 5.12 is the oldest that will do";
        return strerrordesc_np(errnum) ?: "unknown error";
}

bool error_set_errno(GError **error, int errnum, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        return error_set(error, errnum == ENOENT ? KT_ERROR_NOT_FOUND : KT_ERROR_FAILED, "%s: %s", message,
                         error_describe(errnum));
}
