/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/request/secret-request.h"
#include "libstart/run/secret-value.h"
#include "libstart/store/podman-secrets.h"

/* systemd's own limit for all credentials of a service. */
#define VALUE_MAX (1024U * 1024)

/* systemd 257 hands the content of a file in credstore.encrypted on as it is where a unit has LoadCredential= instead
 * of LoadCredentialEncrypted=. The generator chooses between these when it makes the unit, and the file may be newer.
 */
static bool check_decrypted(const char *name, const char *value, gsize length, GError **error) {
        static const char *const directories[] = { "/etc/credstore.encrypted", "/run/credstore.encrypted",
                                                   "/usr/local/lib/credstore.encrypted",
                                                   "/usr/lib/credstore.encrypted" };

        if (user_view_is_entered()) /* the generator chooses nothing there, and these are root's */
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], name, NULL), *text = NULL;
                size_t n;

                if (!file_read(path, &text, &n, error))
                        return false;
                if (text && n == length && memcmp(text, value, n) == 0)
                        return error_set(error, KT_ERROR_FAILED,
                                         "'%s' is newer than the service, which would load it without decrypting it: "
                                         "systemctl daemon-reload. (Where Secret= has a specifier in its name, write "
                                         "LoadCredentialEncrypted= in [Service].)",
                                         path);
        }
        return true;
}

/* *ret_value is NULL if there is none. */
static bool find_credential(const char *name, char **ret_value, gsize *ret_length, GError **error) {
        const char *directory = getenv("CREDENTIALS_DIRECTORY");
        g_autofree char *path = directory ? g_build_filename(directory, name, NULL) : NULL;

        *ret_value = NULL;
        return !path || (file_read(path, ret_value, ret_length, error) &&
                         (!*ret_value || check_decrypted(name, *ret_value, *ret_length, error)));
}

static bool miss(const char *name, const char *store, GError **error) {
        if (user_view_is_entered())
                return error_set(error, KT_ERROR_NOT_FOUND,
                                 "there is no such secret of Podman's in '%s', and the service has no credential of "
                                 "this name (LoadCredential= in [Service]). Make it: podman secret create '%s' -",
                                 store, name);
        if (!secret_name_can_be_credential(name))
                return error_set(
                        error, KT_ERROR_NOT_FOUND,
                        "there is no such secret of Podman's in '%s', and no credential can have this name. Make "
                        "it: podman secret create '%s' -",
                        store, name);
        return error_set(
                error, KT_ERROR_NOT_FOUND,
                "it is not there: this service has no credential '%s' (from credstore or credstore.encrypted in /etc, "
                "/run or /usr/lib, or from LoadCredential= in [Service]), and there is no such secret of Podman's in "
                "'%s'. Make one: 'systemd-creds encrypt --name=%s - /etc/credstore.encrypted/%s' and then 'systemctl "
                "daemon-reload', or 'podman secret create %s -'",
                name, store, name, name, name);
}

bool secret_value_find(const char *name, char **ret_value, gsize *ret_length, GError **error) {
        g_autofree char *store = NULL;
        bool ok = find_credential(name, ret_value, ret_length, error) &&
                  (*ret_value || podman_secret_find("", name, ret_value, ret_length, &store, error)) &&
                  (*ret_value || miss(name, store, error)) &&
                  (*ret_length <= VALUE_MAX ||
                   error_set(error, KT_ERROR_FAILED, "it has %" G_GSIZE_FORMAT " bytes; a secret has at most 1 MiB",
                             *ret_length));

        if (!ok) {
                secret_value_free(*ret_value, *ret_value ? *ret_length : 0);
                *ret_value = NULL;
        }
        return ok;
}
