/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/resolve.h"
#include "libstart/mount/host-path.h"
#include "libstart/service/payload-log.h"

/* Kept apart from the low numbers, which are systemd's activated sockets. */
#define FIRST_FREE_FD 3

/* Replace our standard output and error, for the payload to inherit; keep the old ones. */
static bool replace(PayloadLog *log, int out, int err, GError **error) {
        const int new_fds[2] = { out, err };

        for (int i = 0; i < 2; i++) {
                log->streams[i] = fcntl(STDOUT_FILENO + i, F_DUPFD_CLOEXEC, FIRST_FREE_FD);
                if (log->streams[i] < 0)
                        return error_set_errno(error, errno, "Cannot keep the standard streams");
        }
        log_redirect(log->streams[1]);
        for (int i = 0; i < 2; i++)
                if (new_fds[i] >= 0 && dup2(new_fds[i], STDOUT_FILENO + i) < 0)
                        return error_set_errno(error, errno, "Cannot replace the standard streams");
        return true;
}

static bool open_null(PayloadLog *log, GError **error) {
        _cleanup_close_ int null = open("/dev/null", O_WRONLY | O_CLOEXEC | O_NOCTTY);

        if (null < 0)
                return error_set_errno(error, errno, "Cannot open '/dev/null'");
        return replace(log, null, null, error);
}

/* The payload may give them to its user as it likes; libcrun would do that to whatever stands there. */
static bool give_to_user(const PayloadLog *log, const UserIdentity *user, GError **error) {
        const int fds[] = { log->pipes.write[0], log->pipes.write[1], log->copier.write[0], log->copier.write[1] };

        if (user->uid == 0 && user->gid == 0)
                return true;
        for (gsize i = 0; i < G_N_ELEMENTS(fds); i++)
                if (fds[i] >= 0 && fchown(fds[i], user->uid, user->gid) < 0)
                        return error_set_errno(error, errno, "Cannot give the payload's output to its user");
        return true;
}

/* A camera whose log is less than perfect is better than none: without the relay the payload gets the journal's
 * sockets, which work for everything but opening /dev/stdout anew. */
static bool do_without_relay(const int streams[2], const GError *failure, GError **error) {
        for (int i = 0; i < 2; i++)
                if (streams[i] >= 0 && relay_output(streams[i]) == RELAY_OUTPUT_FILE)
                        return error_set(
                                error, KT_ERROR_FAILED,
                                "%s; standard %s is a file or a terminal of the host's, which is not given to "
                                "the payload itself",
                                failure->message, i == 0 ? "output" : "error");
        log_warning("%s; the payload writes to the journal directly, and cannot open /dev/stdout", failure->message);
        return true;
}

static bool open_relay(PayloadLog *log, const int streams[2], GError **error) {
        g_autoptr(GError) failure = NULL;

        return relay_pipes_open(PATH_RELAY, streams[0], streams[1], &log->pipes, &failure) ||
               do_without_relay(streams, failure, error);
}

/* Where standard output and error are to go. */
static int given(const PayloadLog *log, int stream) {
        return log->file >= 0 ? log->file : stream;
}

/* The descriptor, where its output is of this kind; else -1. */
static int wanted(int fd, RelayOutput kind) {
        return relay_output(fd) == kind ? fd : -1;
}

static bool open_pipes(PayloadLog *log, bool journal, bool attached, GError **error) {
        int relayed[2] = { given(log, STDOUT_FILENO), given(log, STDERR_FILENO) };
        const int copied[2] = { attached ? wanted(relayed[0], RELAY_OUTPUT_FILE) : -1,
                                attached ? wanted(relayed[1], RELAY_OUTPUT_FILE) : -1 };

        for (int i = 0; i < 2; i++)
                if (!journal && attached)
                        relayed[i] = -1;
                else if (!journal || attached)
                        relayed[i] = wanted(relayed[i], journal ? RELAY_OUTPUT_JOURNAL : RELAY_OUTPUT_FILE);
        return open_relay(log, relayed, error) &&
               ((copied[0] < 0 && copied[1] < 0) || output_copier_start(&log->copier, copied, error));
}

static bool connect_payload(PayloadLog *log, bool journal, bool attached, const UserIdentity *user, GError **error) {
        int out, err;

        if (!open_pipes(log, journal, attached, error) || !give_to_user(log, user, error))
                return false;
        out = log->copier.write[0] >= 0 ? log->copier.write[0] : log->pipes.write[0];
        err = log->copier.write[1] >= 0 ? log->copier.write[1] : log->pipes.write[1];
        return (out < 0 && err < 0) || replace(log, out, err, error);
}

#define LOG_FILE_FLAGS (O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* To open a device does something; so what is there is looked at first, and then that is opened, whatever has its
 * name by then. -1 with errno. */
static int open_regular(int directory, const char *name) {
        _cleanup_close_ int found = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;

        if (found < 0 || fstat(found, &st) < 0)
                return -1;
        if (!S_ISREG(st.st_mode)) {
                errno = EINVAL;
                return -1;
        }
        return fd_reopen(found, LOG_FILE_FLAGS);
}

/* The host's file that a payload's output is to be appended to (podman's --log-opt path=). Where it is not there, it
 * is made: root's, and for nobody else. Its directory is found as the sources of volumes are (mount/host-path.h); the
 * file itself is no link, device or FIFO, and nobody makes this wait. Returns a descriptor, or -1. */
static int open_log_file(const char *path, const HostAccess *access, GError **error) {
        g_autofree char *parent = g_path_get_dirname(path), *name = g_path_get_basename(path);
        _cleanup_close_ int directory = host_path_open(parent, O_PATH | O_DIRECTORY, access, error);
        int fd;

        if (directory < 0) {
                g_prefix_error(error, "The log file '%s': ", path);
                return -1;
        }
        fd = openat(directory, name, LOG_FILE_FLAGS | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
        if (fd < 0 && errno == EEXIST)
                fd = open_regular(directory, name);
        if (fd < 0 && errno == EINVAL)
                error_set(error, KT_ERROR_FAILED, "The log file '%s' is a link, or no regular file", path);
        else if (fd < 0)
                error_set_errno(error, errno, "Cannot open the log file '%s'", path);
        return fd;
}

bool payload_log_open(PayloadLog *log, const ContainerRequest *request, const UserIdentity *user, GError **error) {
        if (request->log_driver == LOG_DRIVER_NONE)
                return open_null(log, error);
        if (request->log_path) {
                log->file = open_log_file(request->log_path, &request->host_access, error);
                if (log->file < 0)
                        return false;
        }
        return connect_payload(log, request->log_driver == LOG_DRIVER_JOURNALD, !request->detach, user, error);
}

bool payload_log_started(PayloadLog *log, const ContainerRequest *request, const UserIdentity *user, const char *unit,
                         pid_t pid, GError **error) {
        g_autofree char *tag = g_strndup(unit, (gsize) (strrchr(unit, '.') - unit));
        const RelayRecord payload = {
                .payload = pid,
                .uid = user->uid,
                .gid = user->gid,
                .unit = (char *) unit,
                .tag = (char *) (request->log_tag ?: tag),
        };

        return log->pipes.socket < 0 ||
               relay_register(&log->pipes, given(log, log->streams[0]), given(log, log->streams[1]), &payload, error);
}

/* Our own standard output and error come back: there may be an error to tell. */
void payload_log_close(PayloadLog *log) {
        for (int i = 0; i < 2; i++)
                if (log->streams[i] >= 0) {
                        /* At least the payload's must go: the copier's end, which is waited for, depends on it. */
                        if (dup2(log->streams[i], STDOUT_FILENO + i) < 0)
                                close(STDOUT_FILENO + i);
                        close(log->streams[i]);
                }
        log_redirect(STDERR_FILENO);
        relay_pipes_clear(&log->pipes);
        output_copier_finish(&log->copier);
        fd_closep(&log->file);
        *log = (PayloadLog) PAYLOAD_LOG_NULL;
}
