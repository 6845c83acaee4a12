/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A filter that some container needs: keyturn-generator writes one for each `--filter` in the drop-in of
 * keyturn-seccomp.service, and seccomp-precompile reads it there. PROFILE:CAPABILITIES, where PROFILE is
 * an absolute path or "default", and CAPABILITIES the container's bounding set in 16 hexadecimal digits
 * (bit n is capability number n). */

#define SECCOMP_REQUEST_DEFAULT "default"

/* profile: NULL for the default one. Transfer full. */
char *seccomp_request_format(const char *profile, guint64 bounding_caps);

/* *ret_profile is NULL for the default one. Fails with KT_ERROR_USAGE. */
bool seccomp_request_parse(const char *text, char **ret_profile, guint64 *ret_bounding_caps, GError **error);
