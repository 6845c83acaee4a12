/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/socket.h"
#include "libstart/base/user-view.h"
#include "libstart/relay-client/notify-filter.h"
#include "libstart/relay/notify-source.h"
#include "libstart/relay/watch.h"
#include "libstart/systemd/systemd-notify.h"

/* The threat, beside what notify-filter.c says: whoever has the container's socket writes as much and as often as
 * they like, with any descriptors, and stops at any moment. systemd, the relay, and what it does for others must not
 * notice.
 *
 * Not losing a message: it stays in the socket's queue until systemd's queue has it (MSG_PEEK). Killed in between,
 * the relay says it again.
 *
 * Not being flooded: a source may say so much in a time, the rest waits in its queue, and its sender waits for room.
 *
 * Descriptors are received by nobody, and go with the message when it is taken. The last close of one may sleep: of a
 * connection with SO_LINGER as long as its owner likes. So a message that has some is taken by a child, which is
 * killed by its alarm; meanwhile nothing else of this source is read.
 *
 * A user's relay may not speak in the payload's name. There a child tells systemd, too, from the payload's control
 * group. */

/* On the average, and at once after a silence. */
#define MESSAGE_USEC (20 * G_TIME_SPAN_MILLISECOND)
#define BURST 64

#define TAKER_SECONDS 2

/* A sender that systemd takes no other main process from, should this ever be asked for by mistake: not root. */
#define NOBODY 65534

#define NAME_PREFIX 'n'

static bool is_type(int fd, mode_t type, guint64 *ret_inode) {
        struct stat st;

        if (fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != type)
                return false;
        *ret_inode = st.st_ino;
        return true;
}

static NotifySource *source_alloc(void) {
        NotifySource *source = g_new0(NotifySource, 1);

        source->pidfd = source->socket = source->taker_fd = -1;
        return source;
}

/* The first of each kind; a crash may have left them there twice. */
static bool adopt(NotifySource *source, const int *fds, gsize n_fds, guint64 *ret_inode, GError **error) {
        guint64 inode;

        for (gsize i = 0; i < n_fds; i++) {
                bool is_socket = is_type(fds[i], S_IFSOCK, &inode);
                int *place = is_socket ? &source->socket : &source->pidfd;

                if (*place >= 0) {
                        close(fds[i]);
                        continue;
                }
                *place = fds[i];
                if (is_socket)
                        *ret_inode = inode;
        }
        if (source->socket < 0 || source->pidfd < 0)
                return error_set(error, KT_ERROR_FAILED, "the socket or the process is missing");
        return true;
}

NotifySource *notify_source_new(const NotifyRecord *record, int *fds, gsize n_fds, GError **error) {
        g_autoptr(NotifySource) source = source_alloc();
        guint64 inode = 0;
        bool adopted = adopt(source, fds, n_fds, &inode, error);

        for (gsize i = 0; i < n_fds; i++)
                fds[i] = -1;
        if (!adopted)
                return NULL;
        source->payload = record->payload;
        source->unit = g_strdup(record->unit);
        source->name = g_strdup_printf("%c%d.%" G_GUINT64_FORMAT, NAME_PREFIX, (int) record->payload, inode);
        return g_steal_pointer(&source);
}

bool notify_source_is_name(const char *name) {
        return name[0] == NAME_PREFIX;
}

NotifySource *notify_source_restore(const char *name, const int *fds, gsize n_fds, GError **error) {
        g_autoptr(NotifySource) source = source_alloc();
        guint64 inode;

        source->name = g_strdup(name);
        source->payload = (pid_t) g_ascii_strtoll(name + 1, NULL, 10);
        if (!adopt(source, fds, n_fds, &inode, error))
                return NULL;
        source->ready = source->had_status = true;
        if (source->payload <= 0)
                return error_null(error, KT_ERROR_FAILED, "the name is not understood");
        return g_steal_pointer(&source);
}

void notify_source_free(NotifySource *source) {
        if (!source)
                return;
        fd_closep(&source->socket);
        fd_closep(&source->pidfd);
        fd_closep(&source->taker_fd);
        g_free(source->name);
        g_free(source->unit);
        g_free(source);
}

bool notify_source_store(const NotifySource *source, FdStore *store, GError **error) {
        const int fds[NOTIFY_RECORD_FDS] = { source->socket, source->pidfd };

        return fd_store_add(store, source->name, fds, NOTIFY_RECORD_FDS, error);
}

/*
 * One message
 */

typedef struct Message {
        char bytes[NOTIFY_MESSAGE_MAX];
        size_t size; /* as it was sent, which may be more */
        bool has_fds;
} Message;

/* Returns 0 or a negative errno. */
static int peek(int socket, Message *ret) {
        struct iovec data = { ret->bytes, sizeof ret->bytes };
        struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 }; /* no room for descriptors: none is received */
        ssize_t n;

        do
                n = recvmsg(socket, &message, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        ret->size = (size_t) n;
        ret->has_fds = message.msg_flags & MSG_CTRUNC;
        return 0;
}

static void complain(NotifySource *source, const char *refused) {
        if (source->complained)
                return;
        source->complained = true;
        log_warning(
                "%s (process %d) says %s= to systemd, which is not passed on: see Notify= in keyturn.container(5)",
                source->unit ?: "A container", (int) source->payload, refused);
}

/* Has systemd read all that we have sent? (While the last one is being freed, 1 is left of it.) */
static bool is_all_read(int to) {
        int bytes = 0;

        return ioctl(to, SIOCOUTQ, &bytes) < 0 || bytes <= 1;
}

typedef struct Words {
        char state[NOTIFY_MESSAGE_MAX];
        size_t size; /* 0: there is nothing to tell */
        bool had_status;
} Words;

static void find_words(NotifySource *source, const Message *message, Words *ret) {
        const char *refused;

        ret->had_status = source->had_status;
        ret->size = notify_filter(message->bytes, message->size, ret->state, &refused);
        if (refused)
                complain(source, refused);
        if (ret->size > 0)
                ret->size = notify_filter_settle(ret->state, ret->size, &ret->had_status);
}

static void remember(NotifySource *source, const Words *words) {
        source->had_status = words->had_status;
        source->ready |= notify_filter_says(words->state, words->size, "READY=1");
}

/* Returns 0, also where there is nobody to tell it of, or a negative errno. */
static int tell(NotifySource *source, const Words *words, int to) {
        const struct ucred sender = { .pid = source->payload, .uid = NOBODY, .gid = NOBODY };
        const SocketExtra extra = { SCM_CREDENTIALS, &sender, sizeof sender };
        ssize_t n = socket_send(to, NULL, words->state, words->size, &extra, MSG_DONTWAIT);

        if (n >= 0)
                remember(source, words);
        return n >= 0 || n == -ESRCH ? 0 : (int) n;
}

static void drop_first(int socket) {
        while (recv(socket, NULL, 0, MSG_DONTWAIT) < 0 && errno == EINTR)
                ;
}

/* In a child: what cannot be told is dropped, but for what takes too long, which is tried again. */
static void tell_beside(const NotifySource *source, const Words *words, int to) {
        g_autoptr(GError) error = NULL;

        if (!notify_send_beside(to, words->state, words->size, source->payload, &error) &&
            !watch_is_reaped(source->pidfd))
                log_warning("%s (process %d) is not heard by systemd: %s", source->unit ?: "A container",
                            (int) source->payload, error->message);
}

/* The child shares our table of descriptors, so that it holds none that we close meanwhile. A child with `words`
 * opens some itself, and may be killed before it closes them: it has a table of its own. words: NULL, or to be told
 * before. */
static pid_t fork_taker(NotifySource *source, const Words *words, int to) {
        struct clone_args args = {
                .flags = CLONE_PIDFD | (words ? 0 : CLONE_FILES),
                .pidfd = (uintptr_t) &source->taker_fd,
        };
        long pid = syscall(SYS_clone3, &args, sizeof args);

        if (pid == 0) {
                alarm(TAKER_SECONDS);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* the next relay begins with the same message */
                if (words)
                        tell_beside(source, words, to);
                drop_first(source->socket);
                _exit(0);
        }
        return pid < 0 ? -errno : (pid_t) pid;
}

static NotifyResult failed(int errnum) {
        errno = errnum;
        return NOTIFY_FAILED;
}

static NotifyResult take_apart(NotifySource *source, const Words *words, int to) {
        pid_t pid = fork_taker(source, words, to);

        if (pid < 0)
                return failed(-pid);
        source->taker = pid;
        return NOTIFY_TAKING;
}

static NotifyResult take(NotifySource *source, const Message *message) {
        if (message->has_fds)
                return take_apart(source, NULL, -1);
        drop_first(source->socket);
        return NOTIFY_MORE;
}

static NotifyResult pass_on(NotifySource *source, const Message *message, int to) {
        bool is_told = message->size <= sizeof message->bytes && !watch_is_reaped(source->pidfd);
        Words words = { .size = 0 };
        int r;

        if (is_told && notify_filter_is_barrier(message->bytes, message->size))
                return is_all_read(to) ? take(source, message) : NOTIFY_BLOCKED;
        if (is_told)
                find_words(source, message, &words);
        if (words.size == 0)
                return take(source, message);
        if (user_view_is_entered()) {
                remember(source, &words);
                return take_apart(source, &words, to);
        }
        r = tell(source, &words, to);
        return r == 0 ? take(source, message) : r == -EAGAIN ? NOTIFY_BLOCKED : failed(-r);
}

/* The end of a payload is waited for by nobody, and what is left then is little. */
static bool may_speak(const NotifySource *source) {
        return source->ended || source->paid_until - g_get_monotonic_time() < BURST * MESSAGE_USEC;
}

NotifyResult notify_source_move(NotifySource *source, int to) {
        NotifyResult result;
        Message message;
        int r;

        r = peek(source->socket, &message);
        if (r == -EAGAIN)
                return NOTIFY_IDLE;
        if (r < 0)
                return failed(-r);
        if (!may_speak(source))
                return NOTIFY_PAUSED;
        result = pass_on(source, &message, to);
        if (result == NOTIFY_MORE || result == NOTIFY_TAKING)
                source->paid_until = MAX(source->paid_until, g_get_monotonic_time()) + MESSAGE_USEC;
        return result;
}

bool notify_source_is_taken(NotifySource *source) {
        if (waitpid(source->taker, NULL, __WALL | WNOHANG) == 0)
                return false;
        fd_close(&source->taker_fd);
        source->taker = 0;
        return true;
}

bool notify_source_has_ended(NotifySource *source) {
        struct pollfd process = { .fd = source->pidfd, .events = POLLIN };

        if (source->ended || poll(&process, 1, 0) <= 0)
                return source->ended;
        source->ended = true;
        /* Nobody can write any more: when it is closed there is nothing in it, and nothing to sleep for. */
        shutdown(source->socket, SHUT_RD);
        return true;
}
