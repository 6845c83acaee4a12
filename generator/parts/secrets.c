/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "generator/parts/secrets.h"
#include "libstart/base/fd.h"
#include "libstart/request/secret-request.h"

static bool names_credential(const char *value, const char *name) {
        size_t length = strcspn(value, ":");

        return strlen(name) == length && strncmp(value, name, length) == 0;
}

/* What the file's author says about a credential counts: a second assignment would replace it. */
static bool is_given(const Service *service, const char *name) {
        static const char *const keys[] = { "LoadCredential", "LoadCredentialEncrypted", "SetCredential",
                                            "SetCredentialEncrypted", NULL };
        const UnitSection *section = service->user_service;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && g_strv_contains(keys, line->key) && names_credential(line->value, name))
                        return true;
        }
        return false;
}

/* Where systemd looks for LoadCredentialEncrypted=NAME. That setting finds encrypted credentials only, and
 * LoadCredential= only plain ones. */
static const char *const encrypted_stores[] = { "/etc/credstore.encrypted", "/run/credstore.encrypted",
                                                "/usr/local/lib/credstore.encrypted", "/usr/lib/credstore.encrypted",
                                                "/run/credentials/@encrypted" };

/* The name of a template's instance is not known yet. */
static bool is_encrypted(const Tree *tree, const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(encrypted_stores); i++) {
                g_autofree char *path = g_build_filename(encrypted_stores[i], name, NULL);
                _cleanup_close_ int fd = tree_open_path(tree, path, O_PATH | O_CLOEXEC);

                if (fd >= 0)
                        return true;
        }
        return false;
}

/* scandir(3) sorts. */
void secrets_add_stores(const Tree *tree, GChecksum *checksum) {
        for (size_t i = 0; i < G_N_ELEMENTS(encrypted_stores); i++) {
                _cleanup_close_ int fd = tree_open_path(tree, encrypted_stores[i], O_RDONLY | O_DIRECTORY);
                struct dirent **entries;
                int n = fd < 0 ? -1 : scandirat(fd, ".", &entries, NULL, alphasort);

                for (int j = 0; j < n; j++) {
                        g_checksum_update(checksum, (const guchar *) entries[j]->d_name,
                                          (gssize) strlen(entries[j]->d_name) + 1);
                        free(entries[j]);
                }
                if (n >= 0)
                        free(entries);
        }
}

/* A user's manager has no credstore before systemd 256, and makes copies in vain then: hers are Podman's secrets, and
 * the credentials that [Service] has. */
void secrets_service(Conversion *container, const Tree *tree) {
        const GPtrArray *secrets = container->args->secrets;
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < secrets->len && !container->is_users; i++) {
                char *name = secret_request_find_name(secrets->pdata[i]);

                if (!name || !g_hash_table_add(seen, name) || !secret_name_can_be_credential(name) ||
                    is_given(container->service, name))
                        continue;
                service_set(container->service,
                            is_encrypted(tree, name) ? "LoadCredentialEncrypted" : "LoadCredential", name);
        }
}
