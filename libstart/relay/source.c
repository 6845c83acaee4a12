/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/user-view.h"
#include "libstart/relay/journal.h"
#include "libstart/relay/source.h"

#define RECORD_MAX 4096

#define LOOKS 3

/* It fails for a moment, if ever. Taken for an answer, that would send a payload's output elsewhere, or nowhere. */
static bool look(int fd, struct stat *ret) {
        for (int i = 0; fd >= 0 && i < LOOKS; i++)
                if (fstat(fd, ret) == 0)
                        return true;
        return false;
}

static guint64 inode_of(int fd) {
        struct stat st;

        return look(fd, &st) ? st.st_ino : 0;
}

static bool has_type(int fd, mode_t type) {
        struct stat st;

        return look(fd, &st) && (st.st_mode & S_IFMT) == type;
}

/* A payload's; output may go to a named one, too. */
static bool is_reading_end(int fd) {
        return has_type(fd, S_IFIFO) && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

/* Signal 0 is answered even if we might not send another. */
static bool is_pidfd(int fd) {
        return fd >= 0 && (syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) == 0 || errno == ESRCH || errno == EPERM);
}

static bool save_record(RelaySource *source, GError **error) {
        g_autofree char *text = relay_record_format(&source->record, error);

        if (!text)
                return false;
        /* One write within a page: a kill finds the old text or the new one. */
        if (pwrite(source->memory, text, strlen(text), 0) != (ssize_t) strlen(text))
                return error_set_errno(error, errno, "Cannot write to memory");
        return true;
}

/* One that is taken for ended loses its pipe, and is killed by its next line. Linux before 6.15 says EINVAL while the
 * id is still that of its process group. */
static bool watch_payload(RelaySource *source, GError **error) {
        pid_t pid = source->record.payload;
        int errnum;

        source->payload = (int) syscall(SYS_pidfd_open, pid, 0);
        errnum = errno;
        source->ended = source->reaped = source->payload < 0;
        return !source->ended || errnum == ESRCH || (kill(pid, 0) < 0 && errno == ESRCH) ||
               error_set_errno(error, errnum, "Cannot watch process %d", (int) pid);
}

static RelaySource *source_alloc(void) {
        RelaySource *source = g_new0(RelaySource, 1);

        source->memory = source->payload = -1;
        for (guint i = 0; i < SOURCE_STREAMS; i++)
                source->streams[i] = (RelayStream) {
                        .source = source,
                        .is_stderr = i == SOURCE_STDERR,
                        .pipe = -1,
                        .journal = -1,
                        .file = -1,
                        .sink = -1,
                        .left = G_MAXSIZE,
                };
        return source;
}

static int sink_of(const RelayStream *stream) {
        return stream->file >= 0 ? stream->file : stream->journal;
}

static void take_sink(RelayStream *stream, int *fd) {
        int *place = has_type(*fd, S_IFSOCK) ? &stream->journal : &stream->file;

        *place = fd_steal(fd);
}

/* systemd gives a service one connection for both stdout and stderr, with one priority. stderr gets one
 * of its own. */
static void tell_apart(RelaySource *source) {
        guint64 *inodes = source->record.inodes;

        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                inodes[RELAY_STDOUT_PIPE + i] = is_reading_end(source->streams[i].pipe) ?
                                                        inode_of(source->streams[i].pipe) :
                                                        0;
                inodes[RELAY_STDOUT_STREAM + i] = inode_of(sink_of(&source->streams[i]));
        }
        if (source->streams[SOURCE_STDERR].journal >= 0 && source->streams[SOURCE_STDOUT].journal >= 0 &&
            inodes[RELAY_STDERR_STREAM] == inodes[RELAY_STDOUT_STREAM] && inodes[RELAY_STDOUT_PIPE] != 0) {
                fd_close(&source->streams[SOURCE_STDERR].journal);
                inodes[RELAY_STDERR_STREAM] = 0;
        }
}

/* Non-blocking: the payload, which opens the pipe anew, has a description of its own, and cannot change that. */
static bool check_pipes(const RelaySource *source, GError **error) {
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                int pipe = source->streams[i].pipe;

                if (pipe < 0 && source->record.inodes[RELAY_STDOUT_PIPE + i] == 0)
                        continue;
                if (pipe < 0)
                        return error_set(error, KT_ERROR_FAILED, "pipe %u is missing", i);
                if (source->record.inodes[RELAY_STDOUT_PIPE + i] == 0)
                        return error_set(error, KT_ERROR_FAILED, "descriptor %u is no pipe", i);
                if (fcntl(pipe, F_SETFL, O_NONBLOCK) < 0)
                        return error_set_errno(error, errno, "cannot make a pipe non-blocking");
        }
        if (relay_source_ended(source))
                return error_set(error, KT_ERROR_FAILED, "there is no pipe");
        return true;
}

static void name_source(RelaySource *source) {
        const guint64 *inodes = source->record.inodes;
        RelayRole first = inodes[RELAY_STDOUT_PIPE] != 0 ? RELAY_STDOUT_PIPE : RELAY_STDERR_PIPE;

        source->name = g_strdup_printf("%" G_GUINT64_FORMAT, inodes[first]);
}

RelaySource *relay_source_new(RelayRecord *record, int *fds, GError **error) {
        g_autoptr(RelaySource) source = source_alloc();

        source->record = *record;
        *record = (RelayRecord) { 0 };
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                source->streams[i].pipe = fd_steal(&fds[RELAY_STDOUT_PIPE + i]);
                if (fds[RELAY_STDOUT_STREAM + i] >= 0)
                        take_sink(&source->streams[i], &fds[RELAY_STDOUT_STREAM + i]);
        }
        tell_apart(source);
        if (!check_pipes(source, error))
                return NULL;
        name_source(source);
        source->memory = memfd_create("keyturn-relay", MFD_CLOEXEC);
        if (source->memory < 0)
                return error_null_errno(error, errno, "Cannot make a memory file");
        return save_record(source, error) && watch_payload(source, error) ? g_steal_pointer(&source) : NULL;
}

static bool load_record(RelaySource *source, GError **error) {
        char text[RECORD_MAX];
        ssize_t n = fd_read_begin(source->memory, text, sizeof text - 1);

        if (n < 0)
                return error_set_errno(error, errno, "Cannot read from memory");
        text[n] = '\0';
        return relay_record_parse(text, &source->record, error);
}

static bool is_connected(int journal) {
        struct pollfd state = { .fd = journal };

        return poll(&state, 1, 0) >= 0 && !(state.revents & POLLHUP);
}

/* Only a connection that is in the record, and has not hung up: others are old, and journald has closed them. */
static bool adopt_sink(const RelaySource *source, guint i, RelayStream *stream, int *fd) {
        if (inode_of(*fd) != source->record.inodes[RELAY_STDOUT_STREAM + i] || sink_of(stream) >= 0 ||
            (has_type(*fd, S_IFSOCK) && !is_connected(*fd)))
                return false;
        take_sink(stream, fd);
        return true;
}

static void adopt(RelaySource *source, int *fd) {
        bool reading_end = is_reading_end(*fd);

        if (source->payload < 0 && is_pidfd(*fd)) {
                source->payload = fd_steal(fd);
                return;
        }
        for (guint i = 0; i < SOURCE_STREAMS && *fd >= 0; i++) {
                RelayStream *stream = &source->streams[i];

                if (!reading_end)
                        (void) adopt_sink(source, i, stream, fd);
                else if (inode_of(*fd) == source->record.inodes[RELAY_STDOUT_PIPE + i] && stream->pipe < 0)
                        stream->pipe = fd_steal(fd);
        }
}

RelaySource *relay_source_restore(const char *name, const int *fds, gsize n_fds, GError **error) {
        g_autoptr(RelaySource) source = source_alloc();
        g_autofree int *left = g_memdup2(fds, n_fds * sizeof *fds);
        bool usable;

        source->name = g_strdup(name);
        for (gsize i = 0; i < n_fds; i++)
                if (source->memory < 0 && has_type(left[i], S_IFREG)) /* the first is ours, others are files */
                        source->memory = fd_steal(&left[i]);
        usable = source->memory >= 0 ? load_record(source, error) :
                                       error_set(error, KT_ERROR_FAILED, "the record is missing");
        for (gsize i = 0; i < n_fds; i++) {
                if (usable)
                        adopt(source, &left[i]);
                fd_close(&left[i]);
        }
        if (!usable || !check_pipes(source, error))
                return NULL;
        for (guint i = 0; i < SOURCE_STREAMS; i++)
                source->streams[i].prefix = LEVEL_PREFIX_UNKNOWN;
        return source->payload >= 0 || watch_payload(source, error) ? g_steal_pointer(&source) : NULL;
}

void relay_source_free(RelaySource *source) {
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                fd_closep(&source->streams[i].pipe);
                fd_closep(&source->streams[i].journal);
                if (source->streams[i].sink != source->streams[i].file)
                        fd_closep(&source->streams[i].sink);
                fd_closep(&source->streams[i].file);
        }
        fd_closep(&source->memory);
        fd_closep(&source->payload);
        late_pid_close(&source->late);
        relay_record_clear(&source->record);
        g_free(source->name);
        g_free(source);
}

bool relay_source_store(RelaySource *source, FdStore *store, GError **error) {
        int fds[FD_STORE_GROUP_MAX];
        gsize n_fds = 0;

        fds[n_fds++] = source->memory;
        if (source->payload >= 0)
                fds[n_fds++] = source->payload;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                if (source->streams[i].pipe >= 0)
                        fds[n_fds++] = source->streams[i].pipe;
                if (sink_of(&source->streams[i]) >= 0)
                        fds[n_fds++] = sink_of(&source->streams[i]);
        }
        return fd_store_add(store, source->name, fds, n_fds, error);
}

bool relay_source_ended(const RelaySource *source) {
        return source->streams[SOURCE_STDOUT].pipe < 0 && source->streams[SOURCE_STDERR].pipe < 0;
}

bool relay_stream_connect(RelayStream *stream, FdStore *store, GError **error) {
        RelaySource *source = stream->source;
        const RelayRecord *record = &source->record;
        /* The facility is the one that systemd gives by default. */
        int priority = LOG_DAEMON | (stream->is_stderr ? LOG_ERR : LOG_INFO);
        RelayRole role = stream->is_stderr ? RELAY_STDERR_STREAM : RELAY_STDOUT_STREAM;

        fd_close(&stream->journal);
        stream->journal = journal_connect(record->journal, record->tag, record->unit, priority, error);
        if (stream->journal < 0)
                return false;
        source->record.inodes[role] = inode_of(stream->journal);
        /* Our next incarnation would make another one, if this does not fit. */
        (void) fd_store_add(store, source->name, &stream->journal, 1, NULL);
        return save_record(source, error);
}

int relay_stream_prepare(RelayStream *stream, PipeMove *ret) {
        RelaySource *source = stream->source;
        const RelayRecord *record = &source->record;
        int r = 0;

        if (source->reaped && stream->file < 0 && !user_view_is_entered() && source->late.pid == 0)
                r = late_pid_open(&source->late, record->payload);
        if (r < 0)
                return r;
        *ret = (PipeMove) {
                .pipe = stream->pipe,
                .journal = stream->journal,
                .file = stream->file,
                .sink = stream->sink,
                .hung_up = stream->hung_up,
                .ended = source->ended,
                .yield = stream->rechecks > 0,
                .sender = { source->late.pid ?: record->payload, record->uid, record->gid },
                .payload = source->reaped ? -1 : source->payload,
                .prefix = stream->prefix,
                .left = stream->left,
        };
        if (user_view_is_entered())
                journal_entry_fields(record->unit, record->tag, ret->fields);
        return 0;
}

void relay_stream_moved(RelayStream *stream, const PipeMove *move) {
        stream->sink = move->sink;
        stream->prefix = move->prefix;
        stream->left = move->left;
        stream->moved += move->moved;
        stream->lost += move->lost;
        if (move->result == PUMP_FAILED && move->errnum == ESRCH)
                stream->source->reaped = true;
}
