/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/request/seccomp-request.h"
#include "libstart/seccomp/cache-file.h"
#include "libstart/seccomp/obtain.h"
#include "libstart/systemd/systemd-notify.h"
#include "seccomp-precompile/precompile.h"

/* A little longer than a tick of any kernel: what was changed before has another time than what is
 * changed after. */
#define TICK_US 25000

typedef enum Outcome {
        OUTCOME_THERE,      /* the filter was there already */
        OUTCOME_FROM_IMAGE, /* it came with the system image */
        OUTCOME_COMPILED,
        OUTCOME_LATER, /* its profile is not there, or not yet */
        OUTCOME_FAILED,
        OUTCOME_MAX,
} Outcome;

typedef struct Job {
        const char *root;
        const char *output; /* NULL: for this boot */
        const SeccompRequest *request;
        SeccompCacheKey key;
} Job;

/* Early in boot a file system may still be missing; whether a profile is missing for good, the start will
 * tell. */
static Outcome report(const Job *job, const GError *error) {
        const char *unit = job->request->units->pdata[0];

        if (g_error_matches(error, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                log_warning("%s; leaving the filter to the start of %s", error->message, unit ?: "the container");
                return OUTCOME_LATER;
        }
        log_error("%s", error->message);
        return OUTCOME_FAILED;
}

static bool build_settled(const Job *job, SeccompBuild *ret, GError **error) {
        for (int attempt = 0; attempt < 3 && !ret->keepable; attempt++) {
                if (attempt > 0)
                        g_usleep(TICK_US);
                seccomp_build_clear(ret);
                if (!seccomp_build(job->root, &job->key, ret, error))
                        return false;
        }
        return ret->keepable || error_set(error, KT_ERROR_FAILED, "'%s' is changing all the time", ret->entry->path);
}

/* The same bytes whenever the same image is built. */
static bool build_for_image(const Job *job, SeccompBuild *ret, GError **error) {
        if (!seccomp_build(job->root, &job->key, ret, error))
                return false;
        memset(ret->entry->header.sources, 0, sizeof ret->entry->header.sources);
        return true;
}

static Outcome make(const Job *job) {
        g_autofree char *dir = job->output ? g_strdup(job->output) : g_strconcat(job->root, PATH_SECCOMP, NULL);
        g_auto(SeccompBuild) build = { 0 };
        g_autoptr(GError) error = NULL;

        if (!(job->output ? build_for_image : build_settled)(job, &build, &error) ||
            !seccomp_cache_write(dir, job->key.name, build.entry, &error))
                return report(job, error);
        return build.from_image && !job->output ? OUTCOME_FROM_IMAGE : OUTCOME_COMPILED;
}

static bool is_there(const Job *job) {
        g_autoptr(SeccompCacheEntry) entry = job->output ? NULL : seccomp_find(job->root, &job->key, NULL);

        return entry;
}

/* libseccomp promises nothing about threads, and a process is cheap against the milliseconds of a
 * compilation. Each takes every n-th job, and its exit status says what came of the worst. */
static pid_t start_worker(const GArray *jobs, guint first, guint step, int counts_fd) {
        pid_t child = fork();

        if (child != 0)
                return child;
        for (guint i = first; i < jobs->len; i += step) {
                guint8 outcome = (guint8) make(&g_array_index(jobs, Job, i));

                if (write(counts_fd, &outcome, 1) != 1)
                        _exit(1);
        }
        _exit(0);
}

static void collect(int counts_fd, guint counts[OUTCOME_MAX], guint expected) {
        guint8 outcome;
        guint n = 0;

        while (n < expected && read(counts_fd, &outcome, 1) == 1 && outcome < OUTCOME_MAX) {
                counts[outcome]++;
                n++;
        }
        if (n < expected) {
                log_error("%u filters were not made: a process that compiled them has died", expected - n);
                counts[OUTCOME_FAILED] += expected - n;
        }
}

static void make_in_parallel(const GArray *jobs, guint workers, guint counts[OUTCOME_MAX]) {
        int fds[2];

        if (pipe(fds) < 0) {
                log_error("Cannot make a pipe: %s", g_strerror(errno));
                counts[OUTCOME_FAILED] += jobs->len;
                return;
        }
        for (guint i = 0; i < workers; i++)
                if (start_worker(jobs, i, workers, fds[1]) < 0)
                        log_error("Cannot start a process: %s", g_strerror(errno));
        close(fds[1]);
        collect(fds[0], counts, jobs->len);
        close(fds[0]);
        while (wait(NULL) > 0 || errno == EINTR)
                ;
}

static void make_all(const GArray *jobs, guint counts[OUTCOME_MAX]) {
        guint workers = MIN(jobs->len, g_get_num_processors());

        if (workers > 1)
                make_in_parallel(jobs, workers, counts);
        else
                for (guint i = 0; i < jobs->len; i++)
                        counts[make(&g_array_index(jobs, Job, i))]++;
}

/* What systemctl status shows. */
static void send_status(const char *text) {
        g_autofree char *state = g_strconcat("STATUS=", text, NULL);
        g_autoptr(GError) error = NULL;
        g_autoptr(Notify) systemd = notify_open(&error);

        if (error || !notify_send(systemd, state, &error))
                log_debug("systemd does not hear the status: %s", error->message);
}

bool precompile(const char *root, const char *output, const GPtrArray *requests) {
        g_autoptr(GArray) jobs = g_array_new(FALSE, FALSE, sizeof(Job));
        guint counts[OUTCOME_MAX] = { 0 };

        for (guint i = 0; i < requests->len; i++) {
                const SeccompRequest *request = requests->pdata[i];
                SeccompTarget target = seccomp_target_here(request->bounding_caps);
                Job job = { .root = root, .output = output, .request = request };

                seccomp_cache_key_init(&job.key, request->profile, &target);
                if (is_there(&job))
                        counts[OUTCOME_THERE]++;
                else
                        g_array_append_val(jobs, job);
        }
        make_all(jobs, counts);
        g_autofree char *status = g_strdup_printf(
                "%u filters: %u compiled, %u from the image, %u there already, %u left to the start, "
                "%u failed",
                requests->len, counts[OUTCOME_COMPILED], counts[OUTCOME_FROM_IMAGE], counts[OUTCOME_THERE],
                counts[OUTCOME_LATER], counts[OUTCOME_FAILED]);
        send_status(status);
        log_debug("%s", status);
        return counts[OUTCOME_FAILED] == 0;
}
