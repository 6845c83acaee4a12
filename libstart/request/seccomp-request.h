/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The filters that a system needs: keyturn-generator writes them into a drop-in of keyturn-seccomp.service,
 * and seccomp-precompile reads them there:
 *
 * [X-Keyturn] Filter=default:00000000a80425fb backup-camera.service engine.service
 *
 * systemd itself takes no notice of a section of such a name. The first word says what to compile: the
 * profile, an absolute path or "default", and the container's bounding set in 16 hexadecimal digits (bit
 * n is capability number n). The services that need it follow, for people. Words are quoted as for a
 * shell where necessary. */

#define SECCOMP_REQUEST_DROPIN "keyturn-seccomp.service.d/50-keyturn-generator.conf"
#define SECCOMP_REQUEST_DEFAULT "default"

typedef struct SeccompRequest {
        char *profile; /* NULL: the default one */
        guint64 bounding_caps;
        GPtrArray *units; /* of char*, owned and NULL-terminated; may be empty */
} SeccompRequest;

void seccomp_request_free(SeccompRequest *request);

/* Without units. profile, which is copied: NULL for the default one. Transfer full. */
SeccompRequest *seccomp_request_new(const char *profile, guint64 bounding_caps);

/* The first word of a line: no units. Fails with KT_ERROR_USAGE. Transfer full. */
SeccompRequest *seccomp_request_parse(const char *text, GError **error);

/* The whole drop-in. requests: of SeccompRequest, in the order in which they shall stand. Transfer full. */
char *seccomp_requests_format_dropin(const GPtrArray *requests);

/* Returns an array of SeccompRequest that frees its elements. Fails with KT_ERROR_USAGE, naming the line. Transfer
 * full. */
GPtrArray *seccomp_requests_parse_dropin(const char *text, GError **error);
