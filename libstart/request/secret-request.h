/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* podman's --secret: NAME[,type=mount|env][,target=T][,uid=N][,gid=N][,mode=OCTAL], also with source=NAME. */
typedef struct SecretRequest {
        char *name;       /* of a credential, or of a secret of Podman's; fit for a file name */
        bool is_variable; /* type=env */
        char *target;     /* the variable's name; or an absolute path, clean */
        uid_t uid;        /* of the file, as the two below */
        gid_t gid;
        mode_t mode;
} SecretRequest;

/* Fails with KT_ERROR_USAGE. Transfer full. */
SecretRequest *secret_request_parse(const char *value, GError **error);
void secret_request_free(SecretRequest *request);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SecretRequest, secret_request_free)

/* No file is put on `target` where another mount is, nor beside a mount that is shared with the host, where a link of
 * the image's could lead: the host, and other containers, would have the secret. Always false. */
bool secret_request_refuse_beside(const char *target, const char *mount, GError **error);

/* Can a credential have the name? A '%' may stand for what systemd puts there. Other names can be those of Podman's
 * secrets only. systemd allows itself some more characters, but 257 does not start a service with a blank in one of
 * them, and a ':' ends a name; it replaces no '$' in a credential's name. */
bool secret_name_can_be_credential(const char *name);

/* The name as it stands: the rest of the value may be what systemd has yet to expand. NULL where there is none.
 * Transfer full. */
char *secret_request_find_name(const char *value);
