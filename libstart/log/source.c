/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/log/journal.h"
#include "libstart/log/source.h"

#define RECORD_MAX 4096

static void close_fd(int *fd) {
        fd_closep(fd);
        *fd = -1;
}

static guint64 inode_of(int fd, mode_t type) {
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0 || (st.st_mode & S_IFMT) != type)
                return 0;
        return st.st_ino;
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

static void watch_payload(RelaySource *source) {
        source->payload = (int) syscall(SYS_pidfd_open, source->record.payload, 0);
}

static RelaySource *source_alloc(void) {
        RelaySource *source = g_new0(RelaySource, 1);

        source->memory = source->payload = -1;
        for (guint i = 0; i < SOURCE_STREAMS; i++)
                source->streams[i] = (RelayStream){
                        .source = source,
                        .is_stderr = i == SOURCE_STDERR,
                        .pipe = -1,
                        .journal = -1,
                };
        return source;
}

/* systemd gives a service one connection for both stdout and stderr, with one priority. stderr gets one
 * of its own. */
static void tell_apart(RelaySource *source) {
        guint64 *inodes = source->record.inodes;

        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                inodes[RELAY_STDOUT_PIPE + i] = inode_of(source->streams[i].pipe, S_IFIFO);
                inodes[RELAY_STDOUT_STREAM + i] = inode_of(source->streams[i].journal, S_IFSOCK);
        }
        if (inodes[RELAY_STDERR_STREAM] == inodes[RELAY_STDOUT_STREAM] && inodes[RELAY_STDOUT_PIPE] != 0) {
                close_fd(&source->streams[SOURCE_STDERR].journal);
                inodes[RELAY_STDERR_STREAM] = 0;
        }
}

static bool check_pipes(const RelaySource *source, GError **error) {
        const guint64 *inodes = source->record.inodes;

        for (guint i = 0; i < SOURCE_STREAMS; i++)
                if ((source->streams[i].pipe >= 0) != (inodes[RELAY_STDOUT_PIPE + i] != 0))
                        return error_set(error, KT_ERROR_FAILED, "descriptor %u is no pipe", i);
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
        *record = (RelayRecord){ 0 };
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                source->streams[i].pipe = fd_steal(&fds[RELAY_STDOUT_PIPE + i]);
                source->streams[i].journal = fd_steal(&fds[RELAY_STDOUT_STREAM + i]);
        }
        tell_apart(source);
        if (!check_pipes(source, error))
                return NULL;
        name_source(source);
        source->memory = memfd_create("keyturn-relay", MFD_CLOEXEC);
        if (source->memory < 0) {
                error_set_errno(error, errno, "Cannot make a memory file");
                return NULL;
        }
        if (!save_record(source, error))
                return NULL;
        watch_payload(source);
        return g_steal_pointer(&source);
}

static bool load_record(RelaySource *source, GError **error) {
        char text[RECORD_MAX];
        ssize_t n = pread(source->memory, text, sizeof text - 1, 0);

        if (n < 0)
                return error_set_errno(error, errno, "Cannot read from memory");
        text[n] = '\0';
        return relay_record_parse(text, &source->record, error);
}

/* A connection that is not in the record is an old one, which journald had closed; so is one that has
 * hung up. */
static void adopt(RelaySource *source, int *fd) {
        const guint64 *inodes = source->record.inodes;
        guint64 pipe = inode_of(*fd, S_IFIFO), journal = inode_of(*fd, S_IFSOCK);
        struct pollfd state = { .fd = *fd };

        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                RelayStream *stream = &source->streams[i];

                if (pipe != 0 && pipe == inodes[RELAY_STDOUT_PIPE + i] && stream->pipe < 0)
                        stream->pipe = fd_steal(fd);
                else if (journal != 0 && journal == inodes[RELAY_STDOUT_STREAM + i] && stream->journal < 0 &&
                         poll(&state, 1, 0) >= 0 && !(state.revents & POLLHUP))
                        stream->journal = fd_steal(fd);
        }
}

RelaySource *relay_source_restore(const char *name, const int *fds, gsize n_fds, GError **error) {
        g_autoptr(RelaySource) source = source_alloc();
        g_autofree int *left = g_memdup2(fds, n_fds * sizeof *fds);
        bool usable = true;

        source->name = g_strdup(name);
        for (gsize i = 0; i < n_fds; i++)
                if (source->memory < 0 && inode_of(left[i], S_IFREG) != 0)
                        source->memory = fd_steal(&left[i]);
        if (source->memory < 0)
                usable = error_set(error, KT_ERROR_FAILED, "the record is missing");
        else
                usable = load_record(source, error);
        for (gsize i = 0; i < n_fds; i++) {
                if (usable)
                        adopt(source, &left[i]);
                close_fd(&left[i]);
        }
        if (!usable)
                return NULL;
        if (relay_source_ended(source)) {
                error_set(error, KT_ERROR_FAILED, "there is no pipe");
                return NULL;
        }
        watch_payload(source);
        return g_steal_pointer(&source);
}

void relay_source_free(RelaySource *source) {
        if (!source)
                return;
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                fd_closep(&source->streams[i].pipe);
                fd_closep(&source->streams[i].journal);
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
        for (guint i = 0; i < SOURCE_STREAMS; i++) {
                if (source->streams[i].pipe >= 0)
                        fds[n_fds++] = source->streams[i].pipe;
                if (source->streams[i].journal >= 0)
                        fds[n_fds++] = source->streams[i].journal;
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
        g_autofree char *header = journal_header(record->tag, record->unit, priority, record->level_prefix);
        RelayRole role = stream->is_stderr ? RELAY_STDERR_STREAM : RELAY_STDOUT_STREAM;

        close_fd(&stream->journal);
        stream->journal = journal_connect(record->journal, header, error);
        if (stream->journal < 0)
                return false;
        source->record.inodes[role] = inode_of(stream->journal, S_IFSOCK);
        /* Our next incarnation would make another one, if this does not fit. */
        (void) fd_store_add(store, source->name, &stream->journal, 1, NULL);
        return save_record(source, error);
}

/* The owner of the pipe is the payload's user: libcrun gives it to them before the payload's first byte. */
static void find_owner(RelaySource *source, const RelayStream *stream) {
        struct stat st;

        if (source->owner.pid != 0 || fstat(stream->pipe, &st) < 0)
                return;
        source->owner = (struct ucred){ .pid = source->record.payload, .uid = st.st_uid, .gid = st.st_gid };
}

/* Has it been reaped? (A zombie's id is still its own.) */
static bool is_gone(RelaySource *source) {
        if (source->payload >= 0 && syscall(SYS_pidfd_send_signal, source->payload, 0, NULL, 0) < 0 &&
            errno == ESRCH)
                close_fd(&source->payload);
        return source->payload < 0;
}

static int use_late_pid(RelaySource *source) {
        int r = source->late.pid > 0 ? 0 : late_pid_open(&source->late, source->record.payload);

        if (r == 0)
                source->owner.pid = source->late.pid;
        return r;
}

ssize_t relay_stream_send(const char *data, size_t size, void *context) {
        RelayStream *stream = context;
        RelaySource *source = stream->source;
        ssize_t n;
        int r;

        if (stream->journal < 0)
                return -ENOTCONN;
        find_owner(source, stream);
        if (is_gone(source)) {
                r = use_late_pid(source);
                if (r < 0)
                        return r;
        }
        n = journal_send(stream->journal, data, size, &source->owner);
        if (n != -ESRCH)
                return n;
        /* It was reaped just now. */
        r = use_late_pid(source);
        return r < 0 ? r : journal_send(stream->journal, data, size, &source->owner);
}
