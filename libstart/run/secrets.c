/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/oci/spec-input.h"
#include "libstart/request/secret-request.h"
#include "libstart/run/secrets.h"
#include "libstart/store/podman-secrets.h"
#include "libstart/userns/userns-descriptor.h"

/* The kernel's for one string of an environment, with its end (MAX_ARG_STRLEN). */
#define VARIABLE_MAX (128U * 1024)

#define SHOWN "(secret)"

/*
 * The value of one
 */

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
                "it is not there: this service has no credential '%s' (from credstore or credstore.encrypted in "
                "/etc, /run or /usr/lib, or from LoadCredential= in [Service]), and there is no such secret of "
                "Podman's in '%s'. Make one: 'systemd-creds encrypt --name=%s - /etc/credstore.encrypted/%s' and "
                "then 'systemctl daemon-reload', or 'podman secret create %s -'",
                name, store, name, name, name);
}

/* From where it is first found: among the credentials that systemd gave this service (systemd.exec(5)), else among
 * Podman's secrets. Released with secret_value_free(). */
static bool find_value(const char *name, char **ret_value, gsize *ret_length, GError **error) {
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

/*
 * All of a container's
 */

static void free_variable(void *data) {
        secret_value_free(data, strlen(data));
}

static void free_file(void *data) {
        SecretFile *file = data;

        g_free(file->source);
        g_free(file->destination);
        g_free(file);
}

static void begin(const char *directory, Secrets *ret) {
        *ret = SECRETS_NULL;
        ret->variables = g_ptr_array_new_with_free_func(free_variable);
        ret->files = g_ptr_array_new_with_free_func(free_file);
        ret->place = g_build_filename(directory, "secrets", NULL);
}

/* ramfs: what is in it is never written to swap. */
static bool make_mount(Secrets *secrets, GError **error) {
        _cleanup_close_ int context = -1;

        if (secrets->mount >= 0)
                return true;
        if (mkdir(secrets->place, 0700) < 0 && errno != EEXIST)
                return error_set_errno(error, errno, "Cannot make '%s'", secrets->place);
        context = (int) syscall(SYS_fsopen, "ramfs", FSOPEN_CLOEXEC);
        if (context >= 0 && syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
            mount_label_configure(&secrets->label, context) &&
            syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
                secrets->mount = (int) syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
                                               MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
        return secrets->mount >= 0 || error_set_errno(error, errno, "Cannot make a file system for secrets");
}

/* The file's name is its number: a secret may become several files. */
static SecretFile *add_file(Secrets *secrets, const SecretRequest *request) {
        SecretFile *file = g_new0(SecretFile, 1);

        file->source = g_strdup_printf("%s/%u", secrets->place, secrets->files->len);
        file->destination = g_strdup(request->target);
        g_ptr_array_add(secrets->files, file);
        return file;
}

static bool write_file(Secrets *secrets, const SecretRequest *request, const char *value, gsize length,
                       GError **error) {
        _cleanup_close_ int fd = -1;

        if (!make_mount(secrets, error))
                return false;
        g_autofree char *name = g_path_get_basename(add_file(secrets, request)->source);
        fd = openat(secrets->mount, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        return (fd >= 0 && fd_write_all(fd, value, length) && fchown(fd, request->uid, request->gid) == 0 &&
                fchmod(fd, request->mode) == 0) ||
               error_set_errno(error, errno, "Cannot write it for the container");
}

static void add_variable(Secrets *secrets, const SecretRequest *request, const char *value) {
        g_ptr_array_add(secrets->variables, g_strconcat(request->target, "=", value, NULL));
}

static bool set_variable(Secrets *secrets, const SecretRequest *request, const char *value, gsize length,
                         GError **error) {
        if (strlen(value) != length)
                return error_set(error, KT_ERROR_FAILED,
                                 "there is a NUL byte in it, which no variable can have: leave out type=env");
        if (strlen(request->target) + length + 2 > VARIABLE_MAX)
                return error_set(error, KT_ERROR_FAILED,
                                 "it is longer than a variable can be, 128 KiB: leave out type=env");
        add_variable(secrets, request, value);
        return true;
}

static bool find_one(Secrets *secrets, const SecretRequest *request, GError **error) {
        char *value = NULL;
        gsize length = 0;
        bool ok = find_value(request->name, &value, &length, error) &&
                  (request->is_variable ? set_variable : write_file)(secrets, request, value, length, error);

        secret_value_free(value, length);
        return ok || error_prefix(error, "Secret=%s (--secret): ", request->name);
}

bool secrets_find(const ContainerRequest *request, const char *directory, const char *label, Secrets *ret,
                  GError **error) {
        const GPtrArray *requests = request->secrets;

        if (requests->len > 0) {
                begin(directory, ret);
                /* Values of variables are in our memory until the payload is executed: not in a core dump, and
                 * nobody's to trace. The payload's own memory is another one. */
                userns_hide_process();
        }
        ret->label = (MountLabel) { "context", label };
        for (guint i = 0; i < requests->len; i++)
                if (!find_one(ret, requests->pdata[i], error))
                        return false;
        return true;
}

static bool give_file(int directory, const char *name, const UserNamespace *userns, GError **error) {
        g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(gid_t));
        struct stat st;

        if (fstatat(directory, name, &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
                return error_set_errno(error, errno, "Cannot look at the secrets");
        if (!user_namespace_check(userns, st.st_uid, st.st_gid, none, error))
                return error_prefix(error, "Secret= with uid=%u,gid=%u: ", st.st_uid, st.st_gid);
        return fchownat(directory, name, user_namespace_uid(userns, st.st_uid), user_namespace_gid(userns, st.st_gid),
                        AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) == 0 ||
               error_set_errno(error, errno, "Cannot give the secrets to the user namespace");
}

/* A user's stays hers, as her manager is to remove it. */
static bool give_place(const Secrets *secrets, const UserNamespace *userns, GError **error) {
        if (!user_view_is_entered())
                return give_file(AT_FDCWD, secrets->place, userns, error);
        return chmod(secrets->place, 0711) == 0 ||
               error_set_errno(error, errno, "Cannot change the mode of '%s'", secrets->place);
}

bool secrets_give(const Secrets *secrets, const UserNamespace *userns, GError **error) {
        bool ok = true;

        if (!userns->uids || secrets->mount < 0)
                return true;
        for (guint i = 0; ok && i < secrets->files->len; i++) {
                g_autofree char *name = g_path_get_basename(((SecretFile *) secrets->files->pdata[i])->source);

                ok = give_file(secrets->mount, name, userns, error);
        }
        return ok && give_file(secrets->mount, "", userns, error) && give_place(secrets, userns, error);
}

void secrets_pretend(const ContainerRequest *request, Secrets *ret) {
        const GPtrArray *requests = request->secrets;

        if (requests->len > 0)
                begin("/", ret);
        for (guint i = 0; i < requests->len; i++) {
                const SecretRequest *one = requests->pdata[i];

                if (one->is_variable)
                        add_variable(ret, one, SHOWN);
                else
                        add_file(ret, one);
        }
}

void secrets_clear(Secrets *secrets) {
        g_clear_pointer(&secrets->variables, g_ptr_array_unref);
        g_clear_pointer(&secrets->files, g_ptr_array_unref);
        fd_closep(&secrets->mount);
        g_free(secrets->place);
        *secrets = SECRETS_NULL;
}
