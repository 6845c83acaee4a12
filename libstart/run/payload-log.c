/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log-option.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/run/payload-log.h"

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

/* A camera whose log is less than perfect is better than none: without the relay the payload gets the journal's
 * sockets, which work for everything but opening /dev/stdout anew. */
static bool open_relay(PayloadLog *log, GError **error) {
        g_autoptr(GError) failure = NULL;

        if (!relay_pipes_open(PATH_RELAY, STDOUT_FILENO, STDERR_FILENO, &log->pipes, &failure)) {
                log_warning("%s; the payload writes to the journal directly, and cannot open /dev/stdout",
                            failure->message);
                return true;
        }
        if (log->pipes.socket < 0) /* neither is the journal's */
                return true;
        return replace(log, log->pipes.stdout_write, log->pipes.stderr_write, error);
}

bool payload_log_open(PayloadLog *log, const LaunchArgs *args, GError **error) {
        LogDriver driver = LOG_DRIVER_JOURNALD;

        if (args->log_driver && !log_driver_parse(args->log_driver, &driver, error))
                return false;
        switch (driver) {
        case LOG_DRIVER_PASSTHROUGH:
                return true;
        case LOG_DRIVER_NONE:
                return open_null(log, error);
        case LOG_DRIVER_JOURNALD:
                return open_relay(log, error);
        }
        g_assert_not_reached();
}

bool payload_log_started(PayloadLog *log, const LaunchArgs *args, const char *unit, pid_t pid, GError **error) {
        g_autofree char *tag = g_strndup(unit, (gsize) (strrchr(unit, '.') - unit));
        RelayPayload payload = { .pid = pid, .unit = unit, .tag = tag, .level_prefix = true };

        if (log->pipes.socket < 0)
                return true;
        for (guint i = 0; i < args->log_opt->len; i++)
                if (!log_option_parse(args->log_opt->pdata[i], &payload.tag, error))
                        return false;
        return relay_register(&log->pipes, log->streams[0], log->streams[1], &payload, error);
}

/* Our own standard output and error come back: there may be an error to tell. */
void payload_log_close(PayloadLog *log) {
        for (int i = 0; i < 2; i++)
                if (log->streams[i] >= 0) {
                        dup2(log->streams[i], STDOUT_FILENO + i);
                        close(log->streams[i]);
                }
        log_redirect(STDERR_FILENO);
        relay_pipes_clear(&log->pipes);
        *log = (PayloadLog) PAYLOAD_LOG_NULL;
}
