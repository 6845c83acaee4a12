/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/config/small-file.h"
#include "libstart/service/labels.h"
#include "libstart/store/store-conf.h"

/* What the packages of container policies install, and what the policy itself has; in the order in which Podman
 * looks. */
#define CONTEXTS "/usr/share/containers/selinux/contexts"
#define CONFIG "/etc/selinux/config"
#define POLICY_CONTEXTS "/etc/selinux/%s/contexts/lxc_contexts"

/* In each container's private directory: a link whose target is its level. */
#define CLAIM ".private/level"

/* How many levels are tried: with as many containers as a machine can run, the second is free already. */
#define ATTEMPTS 64

/* *ret_text is NULL where there is none. */
static bool read_contexts(char **ret_text, GError **error) {
        g_autofree char *config = NULL, *type = NULL, *path = NULL;

        if (!file_read(CONTEXTS, ret_text, NULL, error) || *ret_text)
                return !*error;
        if (!file_read(CONFIG, &config, NULL, error))
                return false;
        type = config ? selinux_contexts_find(config, "SELINUXTYPE") : NULL;
        path = g_strdup_printf(POLICY_CONTEXTS, type ?: "targeted");
        return file_read(path, ret_text, NULL, error);
}

/* What processes and files have; NULL where no policy for containers is installed. */
static bool find_types(bool is_init, char **ret_process, char **ret_file, GError **error) {
        g_autofree char *contexts = NULL;

        if (!read_contexts(&contexts, error))
                return false;
        *ret_process = contexts && is_init ? selinux_contexts_find(contexts, "init_process") : NULL;
        if (contexts && !*ret_process)
                *ret_process = selinux_contexts_find(contexts, "process");
        *ret_file = contexts ? selinux_contexts_find(contexts, "file") : NULL;
        return true;
}

/* What Podman knows of its containers, running or not: each has a level between ':' and '"'. */
static char *read_podmans(void) {
        static const char *const names[] = { "containers.json", "volatile-containers.json" };
        g_autoptr(StoreConf) conf = store_conf_load("", NULL, NULL);
        GString *all = g_string_new(NULL);

        for (size_t i = 0; conf && conf->stores[0] && i < G_N_ELEMENTS(names); i++) {
                g_autofree char *path = g_build_filename(conf->stores[0], "overlay-containers", names[i], NULL);
                g_autofree char *text = NULL;

                if (file_read(path, &text, NULL, NULL) && text)
                        g_string_append(all, text);
        }
        return g_string_free(all, FALSE);
}

static bool is_podmans(const char *podmans, const char *level) {
        g_autofree char *end = g_strconcat(":", level, "\"", NULL);

        return strstr(podmans, end);
}

static bool has_level(int run, const char *name, const char *level) {
        g_autofree char *link = g_build_filename(name, CLAIM, NULL);
        char target[NAME_MAX];
        ssize_t n = readlinkat(run, link, target, sizeof target);

        return n > 0 && (size_t) n == strlen(level) && memcmp(target, level, (size_t) n) == 0;
}

/* Another one's on this machine. Two that choose the same at the same moment see each other's link, as each looks
 * after it has made its own, and both go on to the next. */
static bool is_taken(const StateDir *own, const char *level) {
        g_autoptr(GDir) directory = g_dir_open(PATH_RUN, 0, NULL);
        _cleanup_close_ int run = open(PATH_RUN, O_PATH | O_DIRECTORY | O_CLOEXEC);
        g_autofree char *base = g_path_get_basename(own->path);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (!g_str_equal(name, base) && has_level(run, name, level))
                        return true;
        return false;
}

static bool publish(const StateDir *own, const char *level, GError **error) {
        g_autofree char *path = g_build_filename(own->path, CLAIM, NULL);

        unlink(path);
        return symlink(level, path) == 0 || error_set_errno(error, errno, "Cannot make '%s'", path);
}

/* One that the file gives is taken as it is, but others shall see it. */
static bool claim_level(const ContainerRequest *request, const StateDir *own, char **ret, GError **error) {
        g_autofree char *podmans = NULL;

        if (request->label.level)
                return publish(own, request->label.level, error);
        podmans = read_podmans();
        for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
                g_autofree char *level = selinux_level_choose(request->name, attempt);

                if (is_podmans(podmans, level))
                        continue;
                if (!publish(own, level, error))
                        return false;
                if (!is_taken(own, level)) {
                        *ret = g_steal_pointer(&level);
                        return true;
                }
        }
        return error_set(error, KT_ERROR_FAILED,
                         "No SELinux level is free for this container: give it one, SecurityLabelLevel=s0:c1,c2");
}

/* The containers of a pod have the level that their /dev/shm has: they could not share it otherwise. */
static bool join_level(const ContainerRequest *request, const StateDir *own, char **ret, GError **error) {
        char label[NAME_MAX + 1] = "";
        ssize_t n = getxattr(request->shm_path, "security.selinux", label, sizeof label - 1);

        *ret = n > 0 ? selinux_label_level(label) : NULL;
        if (!*ret)
                return error_set(error, KT_ERROR_FAILED, "'%s' has no SELinux level", request->shm_path);
        return !own || publish(own, *ret, error);
}

static bool find_level(const ContainerRequest *request, const StateDir *state_dir, char **ret, GError **error) {
        *ret = NULL;
        if (request->label.disable)
                return true;
        if (request->shm_path && !request->label.level)
                return join_level(request, state_dir, ret, error);
        if (state_dir)
                return claim_level(request, state_dir, ret, error);
        if (!request->label.level)
                *ret = selinux_level_choose(request->name ?: "", 0);
        return true;
}

/* The kernel says whether the policy has such a label, before anything is made for the container. */
static bool check_label(const char *label, GError **error) {
        _cleanup_close_ int fd = open("/sys/fs/selinux/context", O_RDWR | O_CLOEXEC);

        if (fd < 0 || write(fd, label, strlen(label) + 1) >= 0 || errno != EINVAL)
                return true; /* whoever may not ask is told when the label is set */
        return error_set(error, KT_ERROR_FAILED,
                         "SELinux's policy has no label '%s': see SecurityLabelType=, SecurityLabelFileType= and "
                         "SecurityLabelLevel= (--security-opt label=); a module of the policy may be missing "
                         "(semodule -l)",
                         label);
}

static bool find_selinux(const ContainerRequest *request, bool is_init, const StateDir *state_dir, SelinuxLabels *ret,
                         GError **error) {
        g_autofree char *process = NULL, *file = NULL, *level = NULL;
        LabelRequest label = request->label; /* shallow */
        bool has_parts = label_request_has_parts(&label);

        if (!find_types(is_init, &process, &file, error))
                return false;
        if (!process || !file)
                return !has_parts || error_set(error, KT_ERROR_FAILED,
                                               "The container is to have an SELinux label, and no policy for "
                                               "containers is installed (" CONTEXTS ", contexts/lxc_contexts)");
        return find_level(request, state_dir, &level, error) &&
               selinux_labels_make(&label, process, file, level, ret, error) &&
               (!has_parts || ((!ret->process || check_label(ret->process, error)) && check_label(ret->file, error)));
}

/* One profile a line, "NAME (MODE)". */
static bool has_profile(const char *list, const char *name) {
        g_autofree char *lines = g_strconcat("\n", list, NULL), *begin = g_strconcat("\n", name, " (", NULL);

        return strstr(lines, begin);
}

/* "unconfined" is no profile, and there is nothing that it could be loaded into. */
static bool check_apparmor(const char *name, GError **error) {
        g_autofree char *list = NULL;

        if (g_str_equal(name, "unconfined"))
                return true;
        if (!g_file_get_contents("/sys/kernel/security/apparmor/profiles", &list, NULL, NULL))
                return error_set(error, KT_ERROR_FAILED,
                                 "The container is to have AppArmor's profile '%s' (AppArmor=), and AppArmor is not "
                                 "enabled on this system; boot with apparmor=1 security=apparmor, or remove the key",
                                 name);
        return has_profile(list, name) ||
               error_set(error, KT_ERROR_FAILED,
                         "AppArmor's profile '%s' (AppArmor=) is not loaded: put it into /etc/apparmor.d, from where "
                         "apparmor.service loads it at boot, and now run apparmor_parser -r on it",
                         name);
}

bool labels_find_pod(const char *directory, char **ret_file, GError **error) {
        const ContainerRequest nothing = { 0 };
        const StateDir own = { .path = (char *) directory };
        g_autofree char *podmans = read_podmans(), *process = NULL, *file = NULL, *level = NULL,
                        *name = g_path_get_basename(directory);
        g_auto(SelinuxLabels) labels = { 0 };
        unsigned attempt = 0;

        *ret_file = NULL;
        if (!find_types(/* is_init= */ false, &process, &file, error))
                return false;
        if (!process || !file)
                return true;
        do {
                g_free(level);
                level = selinux_level_choose(name, attempt);
        } while ((is_podmans(podmans, level) || is_taken(&own, level)) && ++attempt < ATTEMPTS);
        if (!selinux_labels_make(&nothing.label, process, file, level, &labels, error))
                return false;
        *ret_file = g_steal_pointer(&labels.file);
        return true;
}

bool labels_find(const ContainerRequest *request, bool selinux, bool is_init, const StateDir *state_dir,
                 SelinuxLabels *ret, GError **error) {
        *ret = (SelinuxLabels) { 0 };
        return (!request->apparmor || check_apparmor(request->apparmor, error)) &&
               (!selinux || find_selinux(request, is_init, state_dir, ret, error));
}
