/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/path-value.h"
#include "libstart/base/resolve.h"
#include "libstart/config/small-file.h"
#include "libstart/mount/root-file.h"
#include "libstart/request/mount-request.h"
#include "libstart/root/etc-content.h"
#include "libstart/root/etc-files.h"
#include "libstart/root/host-address.h"
#include "libstart/root/made-files.h"
#include "libstart/root/upper-layer.h"
#include "libstart/value/host-entry.h"

typedef struct EtcFile {
        const char *directory;
        const char *name;
        char *content; /* NULL: this container has no such file */
        gsize length;
        const char *key; /* what asks for it, so that the container must have it; or NULL */
} EtcFile;

enum {
        HOSTS,
        RESOLV_CONF,
        HOSTNAME,
        CONTAINERENV,
        PASSWD,
        GROUP,
        LOCALTIME,
        N_FILES,
};

/* Takes ownership of content. */
static EtcFile text_file(const char *directory, const char *name, char *content) {
        return (EtcFile) { directory, name, content, content ? strlen(content) : 0, NULL };
}

/* A host file that is not there is an empty one. Others may be given it, and have a lease of it (lease.h): but not
 * where it leads to /proc (net/pnp), whose files say no size. */
static char *read_host_file(const char *path) {
        g_autoptr(GError) problem = NULL;
        struct statfs fs;
        char *text = NULL;

        if (file_read(path, &text, NULL, &problem))
                return text;
        if (statfs(path, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC && g_file_get_contents(path, &text, NULL, NULL))
                return text;
        log_warning("The container goes without '%s': %s", path, problem->message);
        return NULL;
}

/* The lines that are asked for, with the machine's address where it is. Transfer full; NULL on errors. */
static char *make_host_lines(const ContainerRequest *request, const NetworkNames *network, GError **error) {
        const char *gateway = network ? network->gateway : NULL;
        g_autofree char *text = g_strconcat("\n", request->hosts->str, NULL);
        g_auto(GStrv) parts = g_strsplit(text, "\n" HOST_GATEWAY "\t", -1);
        g_autofree char *address = !parts[1] ? NULL : gateway ? g_strdup(gateway) : host_address_find(error);
        g_autofree char *separator = g_strconcat("\n", address, "\t", NULL);
        g_autofree char *lines = address || !parts[1] ? g_strjoinv(separator, parts) : NULL;

        return lines ? g_strdup(lines + 1) : NULL;
}

/* From another network than the host's, servers on the host's loopback are out of reach. */
static char *make_resolv_conf(const ContainerRequest *request, const NetworkNames *network) {
        g_autofree char *hosts = read_host_file("/etc/resolv.conf");
        const char *elsewhere = network ? etc_resolv_conf_elsewhere(hosts) : NULL;
        g_autofree char *real = elsewhere ? read_host_file(elsewhere) : NULL;

        return etc_resolv_conf(real ?: hosts, &request->dns, network);
}

/* Podman's of others is empty. Transfer full. */
static char *make_containerenv(const ContainerRequest *request, const char *image_id) {
        const char *image = image_id ? request->image : NULL;

        return request->privileged ? etc_containerenv(request->name, image, image_id) : g_strdup("");
}

static bool make_files(const ContainerRequest *request, const char *image_id, const char *hostname,
                       const NetworkNames *network, EtcFile files[N_FILES], GError **error) {
        bool is_alone = request->network.mode == NETWORK_NONE;
        g_autofree char *hosts = read_host_file("/etc/hosts"), *added = make_host_lines(request, network, error);
        g_autofree char *own = is_alone || network ? etc_own_hosts(network, hostname, request->name) : NULL;

        if (!added)
                return false;
        files[HOSTS] = text_file("etc", "hosts", request->no_hosts ? NULL : etc_hosts(added, hosts, own));
        files[RESOLV_CONF] = text_file("etc", "resolv.conf", NULL);
        files[HOSTNAME] = text_file("etc", "hostname", g_strdup_printf("%s\n", hostname));
        files[CONTAINERENV] = text_file("run", ".containerenv", make_containerenv(request, image_id));
        files[PASSWD] = text_file("etc", "passwd", NULL);
        files[GROUP] = text_file("etc", "group", NULL);
        files[LOCALTIME] = text_file("etc", "localtime", NULL);
        files[HOSTS].key = container_request_find_key(request, "/etc/hosts");
        files[LOCALTIME].key = container_request_find_key(request, "/etc/localtime");
        if (!is_alone && !request->dns.of_image) {
                files[RESOLV_CONF] = text_file("etc", "resolv.conf", make_resolv_conf(request, network));
                files[RESOLV_CONF].key = container_request_find_key(request, "/etc/resolv.conf");
        }
        return !request->timezone ||
               etc_localtime("/", request->timezone, &files[LOCALTIME].content, &files[LOCALTIME].length, error);
}

static void free_files(EtcFile files[N_FILES]) {
        for (int i = 0; i < N_FILES; i++)
                g_free(files[i].content);
}

static bool check_not_asked_for(const char *directory, const EtcFile *files, GError **error) {
        for (int i = 0; i < N_FILES; i++)
                if (files[i].key && g_str_equal(files[i].directory, directory))
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "Cannot make '/%s/%s' for %s: '/%s' of the image is no directory; remove the key, "
                                "or use another image",
                                directory, files[i].name, files[i].key, directory);
        return true;
}

static bool write_directory(int upper, char *const *layers, const UserNamespace *userns, const char *directory,
                            const EtcFile *files, GPtrArray *made, GError **error) {
        _cleanup_close_ int fd = -1;

        if (!upper_layer_add_directory(upper, layers, directory, userns, &fd, error))
                return false;
        if (fd < 0)
                return check_not_asked_for(directory, files, error);
        for (int i = 0; i < N_FILES; i++) {
                g_autofree char *path = g_strconcat("/", directory, "/", files[i].name, NULL);

                if (!files[i].content || !g_str_equal(files[i].directory, directory))
                        continue;
                made_files_add(made, path, files[i].content, files[i].length);
                if (!upper_layer_add_file(fd, files[i].name, files[i].content, files[i].length, error))
                        return false;
        }
        return true;
}

bool etc_files_write(int upper, char *const *layers, const UserNamespace *userns, const ContainerRequest *request,
                     const char *image_id, const char *hostname, const NetworkNames *network, GPtrArray *made,
                     GError **error) {
        EtcFile files[N_FILES] = { 0 };
        bool ok;

        ok = make_files(request, image_id, hostname, network, files, error) &&
             write_directory(upper, layers, userns, "etc", files, made, error) &&
             write_directory(upper, layers, userns, "run", files, made, error);
        free_files(files);
        return ok;
}

bool etc_files_add_mtab(int root_fd, GError **error) {
        _cleanup_close_ int etc = resolve_open(root_fd, "etc", O_PATH | O_DIRECTORY, 0,
                                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);

        return etc < 0 || symlinkat("/proc/mounts", etc, "mtab") == 0 || errno == EEXIST ||
               error_set_errno(error, errno, "Cannot make the link '/etc/mtab' for the container%s",
                               writable_layer_hint(errno));
}

static bool can_be_mounted_on(int root_fd, const char *path) {
        struct statvfs st;

        return faccessat(root_fd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
               (fstatvfs(root_fd, &st) == 0 && !(st.f_flag & ST_RDONLY));
}

/* What is to be mounted on is made here, as in a user namespace the container's root may not be allowed to. */
static bool make_mount_point(int root_fd, const char *path, int layer, const char *name, GError **error) {
        _cleanup_close_ int file = openat(layer, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), made = -1;

        if (file < 0)
                return error_set_errno(error, errno, "Cannot open the container's '%s'", path);
        made = root_file_open_mount_point(root_fd, path + 1, file, error);
        return made >= 0;
}

static bool write_apart(const EtcFile *file, int layer, const char *place, int root_fd, GPtrArray *mounts,
                        GError **error) {
        g_autofree char *source = g_build_filename(place, file->name, NULL);
        g_autofree char *destination = g_build_filename("/", file->directory, file->name, NULL);
        MountRequest *mount;

        if (!upper_layer_add_file(layer, file->name, file->content, file->length, error) ||
            !make_mount_point(root_fd, destination, layer, file->name, error))
                return false;
        mount = mount_request_new(MOUNT_BIND);
        g_ptr_array_add(mounts, mount);
        return mount_request_set_source(mount, source, error) &&
               mount_request_set_destination(mount, destination, error) &&
               mount_request_add_option(mount, "bind", error) && mount_request_add_option(mount, "rprivate", error);
}

/* A mount on a link lands on the link's target, and would replace one of the container's own zones. */
static bool check_localtime(int root_fd, GError **error) {
        char target;

        if (readlinkat(root_fd, "etc/localtime", &target, sizeof target) < 0 &&
            can_be_mounted_on(root_fd, "etc/localtime"))
                return true;
        return error_set(error, KT_ERROR_FAILED,
                         "Cannot set the time zone: '/etc/localtime' of the root directory is a link, or missing and "
                         "cannot be made; make it a file, or use Rootfs=DIRECTORY:O");
}

GPtrArray *etc_files_write_apart(int layer, const char *place, int root_fd, const ContainerRequest *request,
                                 const char *hostname, const NetworkNames *network, const char *passwd,
                                 const char *group, GError **error) {
        g_autoptr(GPtrArray) mounts = g_ptr_array_new_with_free_func((GDestroyNotify) mount_request_free);
        EtcFile files[N_FILES] = { 0 };
        bool ok;

        ok = make_files(request, NULL, hostname, network, files, error) &&
             (!request->timezone || check_localtime(root_fd, error));
        files[PASSWD] = text_file("etc", "passwd", g_strdup(passwd));
        files[GROUP] = text_file("etc", "group", g_strdup(group));
        for (int i = 0; ok && i < N_FILES; i++) {
                g_autofree char *path = g_build_filename(files[i].directory, files[i].name, NULL);

                if (files[i].content && can_be_mounted_on(root_fd, path))
                        ok = write_apart(&files[i], layer, place, root_fd, mounts, error);
                else if (files[i].key)
                        ok = error_set(
                                error, KT_ERROR_FAILED,
                                "Cannot make '/%s' for %s: the root directory does not have it, and is read-only; "
                                "make an empty file there, or use Rootfs=DIRECTORY:O",
                                path, files[i].key);
        }
        free_files(files);
        return ok ? g_steal_pointer(&mounts) : NULL;
}

/* A tmpfs with tmpcopyup begins with a copy of what it hides. */
static bool hides(const OciMount *mount, const char *path) {
        return path_value_covers(mount->destination, path) &&
               !(mount->options && g_strv_contains((const char *const *) mount->options, "tmpcopyup"));
}

static bool check_visible(const char *path, const ContainerRequest *request, const MountPlan *plan, const char *own,
                          GError **error) {
        bool is_asked = container_request_find_key(request, path);
        const OciMount *hiding = NULL;

        for (guint i = 0; is_asked && i < plan->n_mounts; i++) {
                const OciMount *mount = plan->mounts[i]->oci;

                if (g_str_equal(mount->destination, path) && g_str_has_prefix(mount->source, own))
                        return true;
                if (hides(mount, path))
                        hiding = mount;
        }
        return !hiding || container_request_refuse_hidden(request, hiding->destination, path, error);
}

bool etc_files_check(const ContainerRequest *request, const MountPlan *mounts, const char *own, GError **error) {
        return check_visible("/etc/hosts", request, mounts, own, error) &&
               check_visible("/etc/resolv.conf", request, mounts, own, error) &&
               check_visible("/etc/localtime", request, mounts, own, error);
}
