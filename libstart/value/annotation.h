/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Does libcrun act on an annotation of this key ("run.oci.handler")? Such a one would change how a
 * container is run behind the back of all that keyturn checks, its seccomp filter included. `text` may go
 * on behind the key. */
bool annotation_is_reserved(const char *text);

/* KEY=VALUE, and the key is not reserved. */
bool annotation_check(const char *value, GError **error);
