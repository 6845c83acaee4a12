/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/paths.h"
#include "libstart/base/process.h"
#include "libstart/base/socket.h"
#include "libstart/mount/overlay.h"
#include "libstart/root/image-message.h"
#include "libstart/root/users-image.h"
#include "libstart/store/image.h"
#include "libstart/store/reference.h"

/* An image that is there is found in a hundredth of one. */
#define WAIT_SEC 30

/* Of all that the image says of itself, with room for the largest that an execve(2) takes. */
#define SAID_MAX (8U << 20)

/* Of what is wrong: paths are the longest of it. */
#define PROBLEM_MAX 16384U

/* Where the child has its namespace, behind the standard descriptors. */
#define USERNS_FILENO (STDERR_FILENO + 1)

/* What the child's answer begins with. */
enum {
        FOUND = 'f',   /* a mount comes with it */
        MISSING = 'm', /* it is not in her store */
        PROBLEM = 'p',
};

/*
 * The child
 */

/* Behind FUSE may be a program of hers, which could let each look into the container wait. An overlay has another
 * overlay in a layer, but no third one, and this makes two. */
static bool check_file_system(int layer, const char *path, GError **error) {
        struct statfs fs;

        if (fstatfs(layer, &fs) < 0)
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        if (fs.f_type == FUSE_SUPER_MAGIC)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "layer '%s' is on a FUSE file system, whose program could hold the container up: "
                                 "have the store on a disk (rootless_storage_path)",
                                 path);
        return (fs.f_type != OVERLAYFS_SUPER_MAGIC && fs.f_type != ECRYPTFS_SUPER_MAGIC) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "layer '%s' is on an overlay or on eCryptfs, over which the kernel mounts no two overlays: "
                         "have the store on a disk (rootless_storage_path)",
                         path);
}

/* What has been looked at is what is mounted, whatever its path means by then. Each is left open. */
static bool open_layer(char **layer, GError **error) {
        int fd = open(*layer, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

        if (fd < 0)
                return error_set_errno(error, errno, "Cannot open '%s'", *layer);
        if (!check_file_system(fd, *layer, error))
                return false;
        g_free(*layer);
        *layer = g_strdup_printf("/proc/self/fd/%d", fd);
        return true;
}

/* A single layer is no overlay: below it comes an empty one. */
static int merge(char *const *layers, GError **error) {
        static char empty[] = PATH_RUN;
        char *two[] = { layers[0], empty, NULL };

        if (!layers[1] && mount("tmpfs", empty, "tmpfs", MS_NOSUID | MS_NODEV | MS_RDONLY, "size=4k") < 0)
                return error_negative_errno(error, errno, "Cannot mount an empty layer");
        return overlay_merge(layers[1] ? layers : two, PATH_RUN, error);
}

static StoreImage *find_image(const ContainerRequest *request, const Owner *owner, GError **error) {
        const UserIdentity *identity = &owner->identity;
        g_autoptr(StoreConf) conf = NULL;
        g_auto(GStrv) variables = g_new0(char *, 1);
        g_autofree char *uid = g_strdup_printf("%u", identity->uid);

        variables = g_environ_setenv(variables, "HOME", identity->home, true);
        variables = g_environ_setenv(variables, "USER", identity->name, true);
        variables = g_environ_setenv(variables, "UID", uid, true);
        conf = store_conf_load_users(identity->home, variables, error);
        return conf ? store_image_find_in(conf, request->image, error) : NULL;
}

/* Returns the mount. */
static int make(StoreImage *image, const ContainerRequest *request, GString **ret_said, GError **error) {
        g_autoptr(ImageConfig) config = image_config_parse(image->config, error);
        g_autoptr(ImageHealth) health = NULL;

        if (!config || !root_read_health(image, request, &health, error))
                return -1;
        for (char **layer = image->layers; *layer; layer++)
                if (!open_layer(layer, error))
                        return -1;
        *ret_said = image_message_write(image->id, config, health);
        return merge(image->layers, error);
}

/* The same. Where she has the image, whatever is missing of it is no reason to take the system's. */
static int find(const ContainerRequest *request, const Owner *owner, GString **ret_said, GError **error) {
        g_autoptr(StoreImage) image = find_image(request, owner, error);
        int mount = image ? make(image, request, ret_said, error) : -1;

        if (image && mount < 0 && *error)
                (*error)->code = KT_ERROR_FAILED;
        return mount;
}

static void tell(int socket, char kind, int mount, const char *text, gsize length) {
        const SocketExtra extra = { SCM_RIGHTS, &mount, sizeof mount };

        if (socket_send(socket, NULL, &kind, 1, mount >= 0 ? &extra : NULL, 0) == 1)
                (void) fd_write_all(socket, text, length);
}

/* Of ours, two are left: the answer's way and the namespace. All are taken out of the way of the first three, which
 * may be closed. */
static bool close_others(int socket, int userns_fd, GError **error) {
        int ours = fcntl(socket, F_DUPFD_CLOEXEC, USERNS_FILENO),
            ns = fcntl(userns_fd, F_DUPFD_CLOEXEC, USERNS_FILENO),
            null = fcntl(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD_CLOEXEC, USERNS_FILENO);

        return (ours >= 0 && ns >= 0 && null >= 0 && dup2(ours, STDIN_FILENO) >= 0 &&
                dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0 && dup2(ns, USERNS_FILENO) >= 0 &&
                syscall(SYS_close_range, USERNS_FILENO + 1, ~0U, 0) == 0) ||
               error_set_errno(error, errno, "Cannot close the descriptors of the start");
}

/* Not the parent's death is said to who becomes another: it is asked for again. */
static bool become(const Owner *owner, GError **error) {
        bool ok = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && owner_become(owner, USERNS_FILENO, error);

        close(USERNS_FILENO);
        return ok && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
}

G_NORETURN static void answer(int socket, const ContainerRequest *request, const Owner *owner, int userns_fd) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GString) said = NULL;
        int mount = -1;

        if (close_others(socket, userns_fd, &error)) {
                socket = STDIN_FILENO;
                if (become(owner, &error))
                        mount = find(request, owner, &said, &error);
        }
        if (mount >= 0)
                tell(socket, FOUND, mount, said->str, said->len);
        else if (error)
                tell(socket, g_error_matches(error, KT_ERROR, KT_ERROR_NOT_FOUND) ? MISSING : PROBLEM, -1,
                     error->message, strnlen(error->message, PROBLEM_MAX));
        _exit(EXIT_SUCCESS);
}

/*
 * Root's side
 */

typedef struct Answer {
        char kind;
        int mount; /* or -1 */
        GByteArray *text;
} Answer;

static void answer_clear(Answer *answer) {
        fd_close(&answer->mount);
        g_byte_array_unref(answer->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

/* Until there is something to read, or the child has ended. */
static bool wait_until(int socket, gint64 end) {
        struct pollfd poll_fd = { .fd = socket, .events = POLLIN };
        gint64 left;

        while ((left = end - g_get_monotonic_time()) > 0) {
                int n = poll(&poll_fd, 1, (int) (left / 1000 + 1));

                if (n > 0)
                        return true;
                if (n < 0 && errno != EINTR)
                        return false;
        }
        return false;
}

/* False at the end, or where it fails. */
static bool read_more(int socket, Answer *ret) {
        guint8 buffer[16384];
        ssize_t n;

        do
                n = read(socket, buffer, sizeof buffer);
        while (n < 0 && errno == EINTR);
        if (n > 0)
                g_byte_array_append(ret->text, buffer, (guint) n);
        return n > 0;
}

static bool receive(int socket, Answer *ret, GError **error) {
        gint64 end = g_get_monotonic_time() + (gint64) WAIT_SEC * G_USEC_PER_SEC;
        size_t n_fds;
        bool in_time = wait_until(socket, end);

        if (in_time && socket_peek(socket, &ret->kind, 1, &ret->mount, 1, &n_fds) != 1)
                return error_set(
                        error, KT_ERROR_FAILED,
                        "what looks for the image there has ended: it was killed, or a file was cut off while it "
                        "was read");
        while (in_time && read_more(socket, ret) && ret->text->len <= SAID_MAX)
                in_time = wait_until(socket, end);
        if (!in_time)
                return error_set(error, KT_ERROR_FAILED, "no answer within %d seconds", WAIT_SEC);
        return ret->text->len <= SAID_MAX ||
               error_set(error, KT_ERROR_FAILED, "the image says more than %u bytes of itself", SAID_MAX);
}

/* That it is the root of an overlay. That she is who has mounted it only the child can have seen to. What is open, or
 * no root, is none of its making, and no file system is asked before that is known. */
static bool check_mount(int mount, GError **error) {
        int flags = mount >= 0 ? fcntl(mount, F_GETFL) : -1;
        struct statx st;
        struct statfs fs;

        return (flags >= 0 && (flags & O_PATH) &&
                statx(mount, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
                (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) && S_ISDIR(st.stx_mode) && fstatfs(mount, &fs) == 0 &&
                fs.f_type == OVERLAYFS_SUPER_MAGIC) ||
               error_set(error, KT_ERROR_FAILED, "what was found there is no image");
}

/* She may have written it: a line of it is none of ours in a log. */
static bool set_problem(const Answer *answer, const char *text, gsize length, GError **error) {
        g_autofree char *shown = g_utf8_make_valid(text, (gssize) MIN(length, PROBLEM_MAX));

        for (char *c = shown; *c; c++)
                if (g_ascii_iscntrl(*c))
                        *c = ' ';
        return error_set(error, answer->kind == MISSING ? KT_ERROR_NOT_FOUND : KT_ERROR_FAILED, "%s", shown);
}

/* Behind the first byte, which is the kind. */
static bool take(Answer *answer, const UserNamespace *userns, Root *ret, GError **error) {
        const char *text = (const char *) answer->text->data + 1;
        gsize length = answer->text->len - 1;
        g_auto(ImageMessage) said = { 0 };

        if (answer->text->len < 1)
                return error_set(error, KT_ERROR_FAILED, "what looks for the image there has said nothing");
        if (answer->kind != FOUND)
                return set_problem(answer, text, length, error);
        if (!check_mount(answer->mount, error) || !image_message_read(text, length, &said, error))
                return false;
        *ret = (Root) ROOT_NULL;
        ret->source = fd_steal(&answer->mount);
        ret->users = userns;
        ret->image_id = g_steal_pointer(&said.id);
        ret->config = g_steal_pointer(&said.config);
        ret->health = g_steal_pointer(&said.health);
        return true;
}

static int fork_child(const ContainerRequest *request, const Owner *owner, int userns_fd, pid_t *ret_pid,
                      GError **error) {
        int sockets[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
                return error_negative_errno(error, errno, "Cannot make a socket");
        *ret_pid = fork();
        if (*ret_pid == 0) {
                close(sockets[0]);
                answer(sockets[1], request, owner, userns_fd);
        }
        close(sockets[1]);
        if (*ret_pid > 0)
                return sockets[0];
        error_set_errno(error, errno, "Cannot make a process");
        close(sockets[0]);
        return -1;
}

/* What the generator did not see yet (specifiers). */
static bool check_reference(const char *image, GError **error) {
        g_autoptr(Reference) reference = reference_parse(image, error);

        return reference &&
               ((!reference->digest && !reference->id) ||
                error_set(error, KT_ERROR_USAGE, "Image '%s' (Store=user): %s", image, IMAGE_PINS_NOTHING));
}

bool users_image_find(const ContainerRequest *request, const Owner *owner, const UserNamespace *userns, Root *ret,
                      GError **error) {
        g_auto(Answer) answer = { .mount = -1, .text = g_byte_array_new() };
        _cleanup_close_ int socket = -1;
        bool received, found;
        pid_t pid;

        if (!check_reference(request->image, error))
                return false;
        if (!owner->identity.in_passwd)
                return error_set(
                        error, KT_ERROR_FAILED,
                        "The store of '%s' cannot be found (Store=user): neither /etc/passwd nor /etc/userdb "
                        "says where her home is",
                        owner->subid_name);
        socket = fork_child(request, owner, userns->fd, &pid, error);
        if (socket < 0)
                return false;
        received = receive(socket, &answer, error);
        found = received && take(&answer, userns, ret, error);
        (void) kill(pid, SIGKILL);
        (void) process_wait(pid, NULL, received ? 0 : WNOHANG); /* who has answered is at its end */
        return found || error_prefix(error, "In the store of '%s' (Store=user): ", owner->subid_name);
}
