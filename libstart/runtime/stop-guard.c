/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/process.h"
#include "libstart/runtime/runtime.h"
#include "libstart/runtime/stop-guard.h"

/* Before there is a payload, the child gets the signal as it is. */
static int guard(pid_t child, const sigset_t *all, const RuntimeContainer *container, int stop_signal,
                 GError **error) {
        int status, number;
        pid_t ended;

        while ((ended = process_wait(child, &status, WNOHANG)) == 0) {
                number = sigwaitinfo(all, NULL);
                if (number <= 0 || number == SIGCHLD)
                        continue;
                if (number != SIGTERM || !runtime_kill(container->state_root, container->id, stop_signal))
                        (void) kill(child, number);
        }
        if (ended < 0) {
                error_set_errno(error, errno, "Cannot wait for the process that runs the container");
                (void) kill(child, SIGKILL);
                return EXIT_KEYTURN;
        }
        return process_exit_status(status);
}

bool stop_guard_fork(const RuntimeContainer *container, int signal, int *ret_status, GError **error) {
        sigset_t all, before;
        pid_t child;

        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, &before);
        child = fork();
        if (child < 0) {
                *ret_status = EXIT_KEYTURN;
                return error_set_errno(error, errno, "Cannot fork");
        }
        if (child > 0) {
                exec_report_close(container->report);
                *ret_status = guard(child, &all, container, signal, error);
                return false;
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
        return true;
}
