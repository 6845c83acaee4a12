/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/runtime/exec-report.h"

bool exec_report_open(ExecReport *report, int at, GError **error) {
        _cleanup_close_ int reader = -1, writer = -1;
        int pair[2];

        if (pipe2(pair, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot make a pipe");
        reader = pair[0];
        writer = pair[1];
        if (reader == at) {
                int moved = fcntl(reader, F_DUPFD_CLOEXEC, at + 1);

                if (moved < 0)
                        return error_set_errno(error, errno, "Cannot move a pipe");
                reader = moved; /* dup3() below takes the old place */
        }
        if (writer != at && dup3(writer, at, O_CLOEXEC) < 0)
                return error_set_errno(error, errno, "Cannot move a pipe");
        if (writer == at)
                fd_steal(&writer);
        report->write_fd = at;
        report->read_fd = fd_steal(&reader);
        return true;
}

void exec_report_close(ExecReport *report) {
        fd_closep(&report->read_fd);
        fd_closep(&report->write_fd);
        report->read_fd = report->write_fd = -1;
}

void exec_report_failure(const ExecReport *report, int errnum) {
        (void) !write(report->write_fd, &errnum, sizeof errnum);
}

bool exec_report_is_heard(const ExecReport *report) {
        static const int nothing = 0;

        return write(report->write_fd, &nothing, sizeof nothing) >= 0 || errno != EPIPE;
}

bool exec_report_wait(ExecReport *report, int *ret_errno, GError **error) {
        int errnum = 0;
        ssize_t n;

        fd_closep(&report->write_fd);
        report->write_fd = -1;
        do
                n = read(report->read_fd, &errnum, sizeof errnum);
        while ((n < 0 && errno == EINTR) || (n == sizeof errnum && errnum == 0));
        if (n < 0)
                return error_set_errno(error, errno, "Cannot learn whether the payload was executed");
        *ret_errno = n == sizeof errnum ? errnum : 0;
        return true;
}
