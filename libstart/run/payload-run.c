/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/health/health-start.h"
#include "libstart/program-start/program-start.h"
#include "libstart/root/made-files.h"
#include "libstart/run/payload-run.h"
#include "libstart/runtime/hand-over.h"
#include "libstart/runtime/runtime.h"
#include "libstart/runtime/stop-guard.h"
#include "libstart/systemd/stop-unit.h"

static int exec_failure(const PayloadRun *run, int errnum, GError **error) {
        error_set_errno(error, errnum, "Cannot execute '%s' in the container%s",
                        run->container.spec->process->args[0],
                        errnum == ENOENT ? " (or the interpreter or loader that it names)" : "");
        return errnum == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void remember_files(const PayloadRun *run) {
        if (run->made_files)
                made_files_remember(run->made_files, run->container.state_root);
}

/* After the start, so that it costs the start nothing. */
static void report_timing(const PayloadRun *run) {
        const RuntimeContainer *container = &run->container;

        timing_report(container->timing, container->state_root, run->unit, container->request->timing);
}

static bool payload_started(const PayloadRun *run, pid_t payload, GError **error) {
        return payload_log_started(run->log, run->container.request, run->user, run->unit, payload, error);
}

/* A payload that nobody hears would be waited for in vain. */
static bool hand_over_notify(const PayloadRun *run, pid_t main_process, GError **error) {
        bool done = payload_notify_hand_over(run->notify, run->unit, main_process, error);

        if (!done && main_process != getpid())
                kill(main_process, SIGKILL);
        return done;
}

/* A service, whose unit says nothing of the signal: what the request says, the unit says as well. */
static bool is_stopped_by_image(const PayloadRun *run) {
        const ContainerRequest *request = run->container.request;

        return request->state_dir && request->stop_signal == 0 && run->plan->stop_signal != SIGTERM;
}

/* Beside MAINPID=. A start that waits says for what: that is its status, also when its time is over. */
static const char *find_first_state(NotifyMode mode) {
        switch (mode) {
        case NOTIFY_CONMON:
                return "READY=1\n";
        case NOTIFY_CONTAINER:
                return "STATUS=Waits for READY=1 of the payload, as Notify=true asks for it\n";
        case NOTIFY_HEALTHY:
                return "STATUS=Waits for a health check that succeeds, as Notify=healthy asks for it\n";
        case NOTIFY_IGNORE:
                return "";
        }
        g_return_val_if_reached("");
}

/* A stop that follows READY=1 at once has to find the unit that sends the signal, so that is started before. */
static bool detached_started(pid_t payload, void *data, GError **error) {
        const PayloadRun *run = data;

        if (!payload_started(run, payload, error))
                return false;
        if (run->systemd && is_stopped_by_image(run) && !hand_over_has_ended(payload))
                stop_unit_start(run->unit, run->plan->stop_signal);
        return true;
}

static void detached_ended(pid_t payload, void *data) {
        const PayloadRun *run = data;

        payload_notify_drain(run->notify, run->systemd, payload);
}

static int run_detached(PayloadRun *run, GError **error) {
        const ContainerRequest *request = run->container.request;
        const HandOverCalls calls = {
                .start = request->runtime ? program_start : hand_over_start,
                .started = detached_started,
                .ended = run->notify->socket >= 0 ? detached_ended : NULL,
                .data = run,
        };
        HandOver result;

        if (!hand_over(&run->container, run->systemd, find_first_state(request->notify), &calls, &result, error))
                return -1;
        if (result.exec_errno != 0)
                return exec_failure(run, result.exec_errno, error);
        if (request->runtime)
                hand_over_settle(&result);
        if (!result.exited && !hand_over_notify(run, result.payload, error))
                return -1;
        if (run->health && run->systemd && !result.exited)
                health_start(run->health, run->unit);
        remember_files(run);
        report_timing(run);
        if (result.exited)
                hand_over_end_as(result.status);
        return EXIT_SUCCESS;
}

static int run_program(PayloadRun *run, GError **error) {
        int status;

        remember_files(run);
        status = program_run(&run->container, run->plan->stop_signal, error);
        if (status >= 0)
                report_timing(run);
        return status;
}

static int run_attached(PayloadRun *run, GError **error) {
        const RuntimeContainer *container = &run->container;
        int status, errnum;

        if (!payload_started(run, getpid(), error) || !hand_over_notify(run, getpid(), error))
                return -1;
        /* A service's. Nobody is here later, and the first check waits for the payload. */
        if (run->health && container->request->state_dir)
                health_start(run->health, run->unit);
        if (container->request->runtime)
                return run_program(run, error);
        if (is_stopped_by_image(run) && !stop_guard_fork(container, run->plan->stop_signal, &status, error))
                return status;
        remember_files(run);
        status = runtime_run(container, error);
        if (status < 0 || !exec_report_wait(container->report, &errnum, error))
                return -1;
        if (errnum != 0)
                return exec_failure(run, errnum, error);
        report_timing(run);
        return status;
}

int payload_run(PayloadRun *run, GError **error) {
        const ContainerRequest *request = run->container.request;

        if (request->runtime && !program_check(&run->container, run->plan->is_systemd, error))
                return -1;
        return (request->detach ? run_detached : run_attached)(run, error);
}
