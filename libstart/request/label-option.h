/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What a file says of its SELinux labels: the parts that are not to be the policy's own. Strings are owned. */
typedef struct LabelRequest {
        bool disable; /* no label of the container's own, and files that all such containers share */
        bool nested;  /* the payload labels files itself */
        char *user, *role, *type, *level, *file_type;
} LabelRequest;

void label_request_clear(LabelRequest *request);

/* One `label=` of --security-opt into a request: disable, nested, user:USER, role:ROLE, type:TYPE, level:LEVEL,
 * filetype:TYPE. The last of a kind counts, as with Podman. Whether the policy knows such a type it alone can say. */
bool label_option_parse(const char *value, LabelRequest *request, GError **error);

/* Is any part given that would be lost where there is no label at all? */
bool label_request_has_parts(const LabelRequest *request);
