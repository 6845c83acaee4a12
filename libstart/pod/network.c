/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/pod/network.h"
#include "libstart/runtime/runtime-peer.h"
#include "libstart/runtime/runtime.h"
#include "libstart/store/podman-containers.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/systemd/unit-restart.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/value/capability.h"
#include "libstart/value/id-map.h"
#include "libstart/value/names.h"

#define NAMES_MAX 65536

/* The kernel would refuse to enter any other kind of namespace, but could not say which file it was. A FIFO would
 * wait. */
static int open_namespace(const char *path, GError **error) {
        int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

        if (fd < 0)
                error_set_errno(error, errno, "Cannot open the network namespace '%s'", path);
        else if (ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET)
                return fd;
        else
                error_set(error, KT_ERROR_FAILED, "'%s' is no network namespace", path);
        fd_closep(&fd);
        return -1;
}

static bool check_namespace(const char *path, GError **error) {
        _cleanup_close_ int fd = open_namespace(path, error);

        return fd >= 0;
}

static bool read_names(const char *path, NetworkNames *ret, GError **error) {
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        g_autofree char *text = NULL;

        if (fd < 0)
                return error_set_errno(error, errno, "Cannot open '%s'", path);
        if (!file_read_fd(fd, path, NAMES_MAX, &text, NULL, error))
                return false;
        network_names_parse(text, ret);
        return true;
}

/* What makes it ahead. Transfer full. */
static char *network_unit(const char *name) {
        return name_ahead_unit("network", name);
}

/* The same for what is its way out there, and only a user's has. Transfer full; NULL: it has none. */
static char *pasta_unit(const char *name) {
        g_autofree char *mark = g_build_filename(PATH_NETWORK, name, "pasta", NULL);

        return user_view_is_entered() && access(mark, F_OK) == 0 ? name_ahead_unit("pasta", name) : NULL;
}

static bool read_pinned(const char *name, Network *ret, GError **error) {
        g_autofree char *names = g_build_filename(PATH_NETWORK, name, "names", NULL), *unit = NULL;

        if (check_namespace(ret->path, error) && read_names(names, &ret->names, error))
                return true;
        unit = pasta_unit(name) ?: network_unit(name);
        g_prefix_error(error, "The network '%s' is not there: %s makes it: ", name, unit);
        unit_failure_explain(unit, error);
        return false;
}

static bool make_anew(const char *name, GError **error) {
        g_autofree char *unit = network_unit(name), *pasta = NULL;

        log_info("The container wants another network than the one that is there, which is made anew");
        if (!unit_restart(unit, error))
                return false;
        pasta = pasta_unit(name);
        return !pasta || unit_restart(pasta, error);
}

/* A namespace that was pinned in a view before this one is there for those alone that are in it. */
static bool is_of_another_view(const char *path) {
        return user_view_is_entered() && access(path, F_OK) == 0 && !check_namespace(path, NULL);
}

/* The names come last when it is made, and go first: with them it is whole. */
static bool find_pinned(const char *name, const char *id, Network *ret, GError **error) {
        ret->path = g_build_filename(PATH_NETWORK, name, "netns", NULL);
        if (is_of_another_view(ret->path) && !make_anew(name, error))
                return false;
        if (!read_pinned(name, ret, error))
                return false;
        if (!id || g_strcmp0(ret->names.id, id) == 0)
                return true;
        network_names_clear(&ret->names);
        return make_anew(name, error) && read_pinned(name, ret, error) &&
               (g_strcmp0(ret->names.id, id) == 0 ||
                error_set(error, KT_ERROR_FAILED,
                          "The network '%s' is another one than the container's: systemctl daemon-reload", name));
}

/* Its number may have become another's until the namespace is open: so it has to be its container's afterwards, too.
 */
static bool enter_of_process(const RunningContainer *other, const char *unit, Network *ret, GError **error) {
        g_autofree char *path = g_strdup_printf("/proc/%d/ns/net", (int) other->pid);

        ret->fd = open_namespace(path, error);
        if (ret->fd < 0)
                return false;
        if (!runtime_is_running(other->state_root, other->id))
                return error_set(error, KT_ERROR_FAILED, "%s has just ended, and its network with it", unit);
        ret->path = g_strdup_printf("/proc/self/fd/%d", ret->fd);
        network_names_parse("", &ret->names);
        return true;
}

/* The namespace that the network's belongs to. */
static int open_owner(const char *path, GError **error) {
        _cleanup_close_ int network = open_namespace(path, error);
        int fd = network < 0 ? -1 : ioctl(network, NS_GET_USERNS);

        if (network >= 0 && fd < 0)
                error_set_errno(error, errno, "Cannot find out whose the network namespace '%s' is", path);
        return fd;
}

static bool is_owner(const char *network, const char *userns, bool *ret, GError **error) {
        _cleanup_close_ int owner = open_owner(network, error);
        struct stat a, b;

        if (owner < 0)
                return false;
        if (fstat(owner, &a) < 0 || stat(userns, &b) < 0)
                return error_set_errno(error, errno, "Cannot look at the user namespace '%s'", userns);
        *ret = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
        return true;
}

static bool check_rights(const ContainerRequest *request, const char *path, GError **error) {
        guint64 caps = bounding_set_find(request->privileged, request->cap_added, request->cap_dropped,
                                         CAPABILITY_ALL);
        bool is_ours = false;

        if (request->userns.mode != USERNS_HOST || (caps & CAPABILITY_NETWORK) == CAPABILITY_NETWORK)
                return true;
        if (!is_owner(path, "/proc/self/ns/user", &is_ours, error))
                return false;
        if (!is_ours && g_str_has_prefix(path, PATH_POD "/"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "The container's pod was started with a user namespace, which its file does not ask "
                                 "for any more: restart the pod's service");
        return is_ours || error_set(error, KT_ERROR_UNSUPPORTED, "--network: " NETWORK_MODE_GAINS_RIGHTS);
}

/* Whose parent is this process's own. The kernel does not say who is the parent of one outside of the own: then
 * *ret_is_outside. */
static bool is_below(int fd, bool *ret_is_outside) {
        _cleanup_close_ int parent = ioctl(fd, NS_GET_PARENT);
        struct stat a, b;

        *ret_is_outside = parent < 0 && errno == EPERM;
        return parent >= 0 && fstat(parent, &a) == 0 && stat("/proc/self/ns/user", &b) == 0 && a.st_dev == b.st_dev &&
               a.st_ino == b.st_ino;
}

static int open_below(pid_t pid, bool *ret_is_outside) {
        _cleanup_close_ int fd = -1;
        char path[64];

        snprintf(path, sizeof path, "/proc/%d/ns/user", (int) pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        *ret_is_outside = fd < 0 && errno == EACCES;
        return fd >= 0 && is_below(fd, ret_is_outside) ? fd_steal(&fd) : -1;
}

static bool is_same(GArray *a, GArray *b, IdKind kind, bool *ret, GError **error) {
        g_autofree char *text = NULL, *other = NULL;

        if (!id_map_finish(a, kind, error) || !id_map_finish(b, kind, error))
                return false;
        text = id_map_format(a);
        other = id_map_format(b);
        *ret = g_str_equal(text, other);
        return true;
}

static bool check_ids(int fd, const char *unit, GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL, own_uids = NULL, own_gids = NULL;
        bool has_uids = false, has_gids = false;

        if (!userns_descriptor_read(fd, &uids, &gids, error) ||
            !userns_descriptor_read_own(&own_uids, &own_gids, error) ||
            !is_same(uids, own_uids, ID_UID, &has_uids, error) || !is_same(gids, own_gids, ID_GID, &has_gids, error))
                return false;
        return (has_uids && has_gids) ||
               error_set(error, KT_ERROR_USAGE, "--network: %s.service " NETWORK_MODE_OTHER_IDS, unit);
}

/* other: which runs as `unit`. It has the user's ids, or it is an error. One from before the view of now is out of
 * reach: it is restarted, and this container with it. */
static bool find_joined(const RunningContainer *other, const char *unit, JoinedUserns *ret, GError **error) {
        g_autofree char *service = g_strconcat(unit, ".service", NULL);
        bool is_outside;
        _cleanup_close_ int fd = open_below(other->pid, &is_outside);

        if (!runtime_is_running(other->state_root, other->id))
                return error_set(error, KT_ERROR_FAILED, "%s has just ended, and its network with it", service);
        if (fd < 0 && !is_outside)
                return error_set(error, KT_ERROR_FAILED,
                                 "%s has entered another user namespace, which its network does not belong to",
                                 service);
        if (fd < 0) {
                log_notice("What %s runs in is from before keyturn-view.service was started: it starts anew",
                           service);
                return unit_restart_with_others(service, error) &&
                       error_set(error, KT_ERROR_FAILED, "The network of %s was not to be had before: start again",
                                 service);
        }
        if (!check_ids(fd, unit, error))
                return false;
        ret->path = g_strdup_printf("/proc/self/fd/%d", fd);
        ret->fd = fd_steal(&fd);
        return true;
}

static bool enter_userns(const RunningContainer *other, ContainerRequest *request, Network *ret, GError **error) {
        if (request->userns.mode != USERNS_HOST)
                return error_set(error, KT_ERROR_USAGE,
                                 "--network: %s.service has a user namespace, and --userns is another",
                                 request->network.of);
        if (!find_joined(other, request->network.of, &ret->userns, error))
                return false;
        request->userns.mode = USERNS_PATH;
        request->userns.path = ret->userns.path;
        return true;
}

/* What that container has: the host's network, a pinned one, or one that goes with its processes. */
static bool find_of_container(ContainerRequest *request, Network *ret, GError **error) {
        NetworkChoice *choice = &request->network;
        g_auto(RunningContainer) other = { 0 };
        g_autofree char *directory = NULL;

        if (!runtime_find_running(choice->of, &other, error))
                return error_prefix(error, "Cannot share the network of %s.service: ", choice->of);
        if (!other.has_network) {
                *choice = (NetworkChoice) { NETWORK_HOST };
                return true;
        }
        if (user_view_is_entered() && !enter_userns(&other, request, ret, error))
                return false;
        directory = other.network_path ? g_path_get_dirname(other.network_path) : NULL;
        if (directory && g_str_has_prefix(directory, PATH_NETWORK "/")) {
                g_autofree char *name = g_path_get_basename(directory);

                return find_pinned(name, NULL, ret, error);
        }
        return enter_of_process(&other, choice->of, ret, error);
}

static bool find_podmans(const char *name, RunningContainer *ret, GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load("", NULL, error);
        g_autofree char *id = NULL;

        if (!conf || !podman_container_find(conf, name, &id, error))
                return false;
        return id ? runtime_find_podmans(id, ret, error) :
                    error_set(error, KT_ERROR_NOT_FOUND, "Podman has none of this name: start it first");
}

static bool find_of_podmans(ContainerRequest *request, Network *ret, GError **error) {
        NetworkChoice *choice = &request->network;
        g_auto(RunningContainer) other = { 0 };

        if (!find_podmans(choice->of, &other, error))
                return error_prefix(error, "Cannot share the network of Podman's container '%s': ", choice->of);
        if (other.has_network)
                return enter_of_process(&other, choice->of, ret, error);
        *choice = (NetworkChoice) { NETWORK_HOST };
        return true;
}

bool network_find(ContainerRequest *request, Network *ret, GError **error) {
        NetworkChoice *choice = &request->network;

        switch (choice->mode) {
        case NETWORK_HOST:
        case NETWORK_NONE:
                return true;
        case NETWORK_PINNED:
                return find_pinned(choice->of, request->network_id, ret, error);
        case NETWORK_PATH:
                ret->path = g_strdup(choice->of);
                network_names_parse("", &ret->names);
                return check_namespace(ret->path, error) && check_rights(request, ret->path, error);
        case NETWORK_CONTAINER:
        case NETWORK_PODMAN:
                return (choice->mode == NETWORK_PODMAN ? find_of_podmans : find_of_container)(request, ret, error) &&
                       (!ret->path || check_rights(request, ret->path, error));
        }
        g_return_val_if_reached(false);
}

bool network_settle_owner(const NetworkChoice *choice, const char *userns, Network *network, GError **error) {
        bool is_ours = false;

        if (!choice->is_owned || !userns)
                return true;
        if (!is_owner(network->path, userns, &is_ours, error) || is_ours)
                return is_ours;
        network_names_clear(&network->names);
        return make_anew(choice->of, error) && read_pinned(choice->of, network, error) &&
               is_owner(network->path, userns, &is_ours, error) &&
               (is_ours || error_set(error, KT_ERROR_FAILED,
                                     "The network '%s' does not belong to the container's user namespace: "
                                     "systemctl daemon-reload",
                                     choice->of));
}

void network_pretend(const ContainerRequest *request, Network *ret) {
        if (request->network.mode == NETWORK_PINNED)
                ret->path = g_build_filename(PATH_NETWORK, request->network.of, "netns", NULL);
        else if (request->network.mode == NETWORK_PATH)
                ret->path = g_strdup(request->network.of);
}

void network_clear(Network *network) {
        g_clear_pointer(&network->path, g_free);
        fd_close(&network->fd);
        g_clear_pointer(&network->userns.path, g_free);
        fd_close(&network->userns.fd);
        network_names_clear(&network->names);
}
