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

/* The name as it stands: the rest of the value may be what systemd has yet to expand. NULL where there is none. Transfer
 * full. */
char *secret_request_find_name(const char *value);
