/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/capability.h"
#include "libstart/base/error.h"
#include "libstart/base/seccomp-request.h"

#define DIGITS 16

char *seccomp_request_format(const char *profile, guint64 bounding_caps) {
        return g_strdup_printf("%s:%016" G_GINT64_MODIFIER "x", profile ? profile : SECCOMP_REQUEST_DEFAULT,
                               bounding_caps);
}

bool seccomp_request_parse(const char *text, char **ret_profile, guint64 *ret_bounding_caps,
                           GError **error) {
        const char *colon = strrchr(text, ':'); /* the last one: a path may hold some */
        g_autofree char *profile = colon ? g_strndup(text, (gsize) (colon - text)) : NULL;
        guint64 caps;

        if (!colon || strlen(colon + 1) != DIGITS ||
            !g_ascii_string_to_unsigned(colon + 1, 16, 0, CAPABILITY_ALL, &caps, NULL))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s' is not PROFILE:CAPABILITIES, the latter a mask of %d hexadecimal digits", text,
                        DIGITS);
        if (profile[0] != '/' && !g_str_equal(profile, SECCOMP_REQUEST_DEFAULT))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s': the profile is neither an absolute path nor '" SECCOMP_REQUEST_DEFAULT "'",
                        text);
        *ret_profile = profile[0] == '/' ? g_steal_pointer(&profile) : NULL;
        *ret_bounding_caps = caps;
        return true;
}
