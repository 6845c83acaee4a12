/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/user-view.h"
#include "libstart/config/small-file.h"
#include "libstart/store/store-conf.h"
#include "libstart/userns/subid.h"
#include "libstart/userns/view.h"

#define ETC PATH_RUN "/.etc"

/* Twenty seconds. */
#define TRIES 4000
#define TRY_USEC 5000

/*
 * The user namespace
 */

/* The words of newuidmap(1) or newgidmap(1). KT_ERROR_NOT_FOUND: the user has no further ids. */
static char **make_words(const char *program, const char *path, const char *name, guint32 own, GError **error) {
        g_autoptr(GArray) ranges = subid_find(path, name, error);
        g_autoptr(GString) words = g_string_new(program);
        guint32 inside = 1;

        if (!ranges)
                return NULL;
        g_string_append_printf(words, " %d 0 %u 1", (int) getpid(), own);
        for (guint i = 0; i < ranges->len; i++) {
                const IdRange *range = &g_array_index(ranges, IdRange, i);

                g_string_append_printf(words, " %u %u %u", inside, range->first, range->count);
                inside += range->count;
        }
        return g_strsplit(words->str, " ", -1);
}

static bool map_ids(char **uids, char **gids, GError **error) {
        return host_program_run((const char *const *) uids, NULL, error) &&
               host_program_run((const char *const *) gids, NULL, error);
}

/* Only a process outside may map more than its own id: this one waits until that is done. */
static bool map_from_outside(char **uids, char **gids, GError **error) {
        int begin[2], status;
        pid_t child;
        char word;

        if (pipe2(begin, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        child = fork();
        if (child == 0) {
                g_autoptr(GError) problem = NULL;

                close(begin[1]);
                if (read(begin[0], &word, 1) != 1)
                        _exit(EXIT_FAILURE);
                if (map_ids(uids, gids, &problem))
                        _exit(EXIT_SUCCESS);
                log_error("%s", problem->message);
                _exit(EXIT_FAILURE);
        }
        close(begin[0]);
        if (child < 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
                close(begin[1]);
                return error_set_errno(error, errno, "Cannot make a user namespace");
        }
        (void) fd_write_all(begin[1], "x", 1);
        close(begin[1]);
        if (process_wait(child, &status, 0) != child || status != 0)
                return error_set(error, KT_ERROR_FAILED,
                                 "The user's ids of " PATH_SUBUID
                                 " cannot be mapped: newuidmap(1) must be there (package "
                                 "uidmap), and know them");
        return true;
}

static bool write_text(const char *path, const char *text, GError **error) {
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

        return (fd >= 0 && fd_write_all(fd, text, strlen(text))) ||
               error_set_errno(error, errno, "Cannot write '%s'", path);
}

/* Groups cannot be changed then, which a container takes for given: it keeps the user's. */
static bool map_alone(uid_t uid, gid_t gid, GError **error) {
        g_autofree char *uids = g_strdup_printf("0 %u 1\n", uid), *gids = g_strdup_printf("0 %u 1\n", gid);

        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
                return error_set_errno(error, errno, "Cannot make a user namespace");
        return write_text("/proc/self/setgroups", "deny", error) && write_text("/proc/self/uid_map", uids, error) &&
               write_text("/proc/self/gid_map", gids, error);
}

static bool enter_new(GError **error) {
        uid_t uid = getuid();
        gid_t gid = getgid();
        g_autoptr(GError) problem = NULL;
        g_autofree char *name = subid_name(uid, &problem);
        g_auto(GStrv) uids = name ? make_words("/usr/bin/newuidmap", PATH_SUBUID, name, uid, &problem) : NULL;
        g_auto(GStrv) gids = uids ? make_words("/usr/bin/newgidmap", PATH_SUBGID, name, gid, &problem) : NULL;

        if (uids && gids)
                return map_from_outside(uids, gids, error);
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        log_notice("'%s' has no ids in " PATH_SUBUID " and " PATH_SUBGID ": containers have one id, and no others",
                   name);
        return map_alone(uid, gid, error);
}

/*
 * The mount namespace
 */

static int clone_tree(const char *path) {
        return (int) syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
}

static bool attach_tree(int mount, const char *place, GError **error) {
        return syscall(SYS_move_mount, mount, "", AT_FDCWD, place, MOVE_MOUNT_F_EMPTY_PATH) == 0 ||
               error_set_errno(error, errno, "Cannot mount on '%s'", place);
}

static bool show_at(const char *source, const char *place, GError **error) {
        _cleanup_close_ int mount = -1;

        if (!directory_make(source, 0700, error))
                return false;
        mount = clone_tree(source);
        if (mount < 0)
                return error_set_errno(error, errno, "Cannot mount '%s'", source);
        if (access(place, F_OK) < 0)
                return error_set(error, KT_ERROR_FAILED,
                                 "There is no '%s': the package's tmpfiles.d(5) make it at boot", place);
        return attach_tree(mount, place, error);
}

/* What the user's manager has not, the machine's has. */
static bool show_systemd(const char *runtime, GError **error) {
        static const char *const kept[] = { "journal", "resolve" };
        g_autofree char *own = g_build_filename(runtime, "systemd", NULL);
        int mounts[G_N_ELEMENTS(kept)];
        bool done = true;

        for (size_t i = 0; done && i < G_N_ELEMENTS(kept); i++) {
                g_autofree char *path = g_build_filename("/run/systemd", kept[i], NULL);
                g_autofree char *place = g_build_filename(own, kept[i], NULL);

                mounts[i] = clone_tree(path);
                if (mounts[i] >= 0)
                        done = directory_make(place, 0700, error);
                else
                        done = errno == ENOENT || error_set_errno(error, errno, "Cannot mount '%s'", path);
        }
        done = done && show_at(own, "/run/systemd", error);
        for (size_t i = 0; done && i < G_N_ELEMENTS(kept); i++) {
                g_autofree char *path = g_build_filename("/run/systemd", kept[i], NULL);
                _cleanup_close_ int mount = mounts[i];

                done = mount < 0 || attach_tree(mount, path, error);
        }
        return done;
}

static void append_string(GString *conf, const char *text) {
        g_string_append_c(conf, '"');
        for (; *text; text++)
                g_string_append_printf(conf, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
        g_string_append_c(conf, '"');
}

static void append_setting(GString *conf, const char *name, const char *value) {
        g_string_append_printf(conf, "%s = ", name);
        append_string(conf, value);
        g_string_append_c(conf, '\n');
}

static char *print_settings(StoreSettings *settings, const char *share) {
        GString *conf = g_string_new("[storage]\ndriver = \"overlay\"\nrunroot = \"" PATH_RUN "/.containers\"\n");

        store_settings_settle_users(settings, share);
        append_setting(conf, "graphroot", settings->graph_root);
        if (settings->image_store[0])
                append_setting(conf, "imagestore", settings->image_store);
        g_string_append(conf, "[storage.options]\nadditionalimagestores = [");
        for (char **store = settings->additional_stores; store && *store; store++) {
                append_string(conf, *store);
                g_string_append(conf, ", ");
        }
        g_string_append(conf, "]\n");
        return g_string_free(conf, FALSE);
}

char *view_storage_conf(StoreSettings *settings, const char *own, const char *name, const char *share,
                        GError **error) {
        return own && !store_settings_apply(settings, own, strlen(own), name, error) ?
                       NULL :
                       print_settings(settings, share);
}

/* Transfer full. */
static char *find_directory(const char *variable, const char *home, const char *below) {
        const char *said = getenv(variable);

        return said && said[0] == '/' ? g_strdup(said) : g_build_filename(home, below, NULL);
}

static bool write_storage_conf(const char *path, const char *home, const char *place, GError **error) {
        g_autofree char *share = find_directory("XDG_DATA_HOME", home, ".local/share"), *own = NULL, *conf = NULL;
        g_autoptr(StoreSettings) settings = store_settings_new();

        settings->variables = g_get_environ();
        if (!store_settings_read_machines(settings, "", error) || !file_read(path, &own, NULL, error))
                return false;
        conf = view_storage_conf(settings, own, path, share, error);
        return conf && g_file_set_contents(place, conf, -1, error);
}

static bool copy_conf(const char *path, const char *place, GError **error) {
        g_autofree char *text = NULL;

        return file_read(path, &text, NULL, error) && (!text || g_file_set_contents(place, text, -1, error));
}

/* The host's files below, and above them what the user says. */
static bool show_configuration(const char *home, GError **error) {
        static const char *const files[] = { "storage.conf", "registries.conf", "containers.conf" };
        g_autofree char *directory = find_directory("XDG_CONFIG_HOME", home, ".config");

        if (mount("tmpfs", ETC, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0 || mkdir(ETC "/upper", 0755) < 0 ||
            mkdir(ETC "/work", 0755) < 0)
                return error_set_errno(error, errno, "Cannot make room for /etc/containers");
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
                g_autofree char *path = g_build_filename(directory, "containers", files[i], NULL);
                g_autofree char *place = g_build_filename(ETC "/upper", files[i], NULL);

                if (!(i == 0 ? write_storage_conf(path, home, place, error) : copy_conf(path, place, error)))
                        return false;
        }
        return mount("overlay", "/etc/containers", "overlay", MS_NOSUID | MS_NODEV,
                     "lowerdir=/etc/containers,upperdir=" ETC "/upper,workdir=" ETC "/work,userxattr") == 0 ||
               error_set_errno(error, errno, "Cannot mount on '/etc/containers'");
}

static bool show_all(const char *runtime, const char *home, GError **error) {
        g_autofree char *run = g_build_filename(runtime, "keyturn", NULL);
        g_autofree char *share = g_build_filename(home, ".local/share/keyturn", NULL);

        return show_at(run, PATH_RUN, error) && directory_make(ETC, 0700, error) &&
               show_at(share, "/var/lib/keyturn", error) && show_systemd(runtime, error) &&
               show_configuration(home, error);
}

/* Whoever holds the view before makes room: a relay that is not told never looks for another one. Should this process
 * be killed here, the next relay finds no holder that lives, and takes the view that systemd has kept for it. */
static bool replace_holder(GError **error) {
        _cleanup_close_ int lock = user_view_lock(error), old = -1;
        pid_t pid;

        if (lock < 0)
                return false;
        old = user_view_open_holder(&pid);
        if (old >= 0 ? syscall(SYS_pidfd_send_signal, old, SIGTERM, NULL, 0) < 0 && errno != ESRCH :
                       errno != ENOENT && errno != ESRCH)
                return error_set_errno(error, errno, "Cannot end who holds the user's namespaces");
        return user_view_announce(lock, error);
}

/* One that could not say that it holds the view before was not told. systemd starts it again, and it looks. */
static void end_relay(void) {
        static const char *const words[] = { "/usr/bin/systemctl", "--user", "kill", "keyturn-relay", NULL };

        (void) host_program_run(words, NULL, NULL);
}

/* Until the relay has entered what this process has made, and said so. */
static bool hand_over(GError **error) {
        for (int i = 0; i < TRIES; i++) {
                pid_t holder = 0;
                _cleanup_close_ int fd = user_view_open_holder(&holder);

                if (fd >= 0 && holder != getpid())
                        return true;
                if (i == TRIES / 4)
                        end_relay();
                g_usleep(TRY_USEC);
        }
        return error_set(error, KT_ERROR_FAILED,
                         "The user's relay has not taken the namespaces: systemctl --user status keyturn-relay");
}

bool view_make(GError **error) {
        const char *runtime = getenv("XDG_RUNTIME_DIR"), *home = getenv("HOME");
        g_autofree char *uid = g_strdup_printf("%u", getuid());

        if (getuid() == 0 || !runtime || !home)
                return error_set(error, KT_ERROR_USAGE,
                                 "This is for the manager of a user who is not root: systemctl --user");
        g_setenv("UID", uid, TRUE); /* which storage.conf(5) may name; in the namespace it is another */
        return enter_new(error) && show_all(runtime, home, error) && replace_holder(error) && hand_over(error);
}
