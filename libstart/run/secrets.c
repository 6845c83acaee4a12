/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/oci/spec-input.h"
#include "libstart/request/secret-request.h"
#include "libstart/run/secret-value.h"
#include "libstart/run/secrets.h"
#include "libstart/store/podman-secrets.h"
#include "libstart/userns/userns-descriptor.h"

/* The kernel's for one string of an environment, with its end (MAX_ARG_STRLEN). */
#define VARIABLE_MAX (128U * 1024)

#define SHOWN "(secret)"

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
        bool ok = secret_value_find(request->name, &value, &length, error) &&
                  (request->is_variable ? set_variable : write_file)(secrets, request, value, length, error);

        secret_value_free(value, length);
        if (!ok)
                g_prefix_error(error, "Secret=%s (--secret): ", request->name);
        return ok;
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
        if (!user_namespace_check(userns, st.st_uid, st.st_gid, none, error)) {
                g_prefix_error(error, "Secret= with uid=%u,gid=%u: ", st.st_uid, st.st_gid);
                return false;
        }
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
