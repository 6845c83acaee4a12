/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What libstart/run needs of this folder. */

/* If there is a `why`, it belongs into the journal. All zero: the filter was there. */
typedef struct SeccompOrigin {
        bool compiled; /* in place, at the expense of this start, rather than found */
        bool damaged;  /* there was a file, and it could not be used */
        char *why;     /* why what keyturn-seccomp.service should have left could not be used; NULL: it was */
} SeccompOrigin;

void seccomp_origin_clear(SeccompOrigin *origin);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SeccompOrigin, seccomp_origin_clear)

/* The filter of a container, as an array of struct sock_filter: one that was compiled ahead if it is beyond
 * doubt, else compiled now (and kept on /run for the next start). Never NULL without an error, and an error
 * means that the container must not start.
 *
 * root: "" or a directory that stands for /. profile: absolute path, as in --security-opt seccomp=PATH;
 * NULL: the default profile. "unconfined" is decided by the caller, who then does not call this.
 * bounding_caps: bit n is capability number n. */
GBytes *seccomp_filter_for(const char *root, const char *profile, guint64 bounding_caps, SeccompOrigin *ret_origin,
                           GError **error);
