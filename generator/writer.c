/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "generator/emit.h"
#include "generator/install.h"
#include "generator/writer.h"
#include "libstart/base/error.h"

/* Fewer are written at the end, without a thread. */
#define UNITS_AT_ONCE 32

typedef struct Job {
        const SourceFile *source;
        char *name;
        GString *text;
        GPtrArray *links; /* of a unit; NULL: not a unit */
} Job;

struct Writer {
        const char *directory;
        GPtrArray *jobs;     /* of Job: collected, not handed over yet */
        GThread *thread;     /* NULL until the first jobs are handed over */
        GAsyncQueue *queue;  /* of GPtrArray of Job; an empty one ends the thread */
        GPtrArray *problems; /* of char*; the thread's while there is one, and so is the descriptor */
        int directory_fd;
};

static void job_free(void *data) {
        Job *job = data;

        g_free(job->name);
        g_string_free(job->text, TRUE);
        g_clear_pointer(&job->links, g_ptr_array_unref);
        g_free(job);
}

static void add_problem(Writer *writer, const Job *job, const GError *error) {
        g_ptr_array_add(writer->problems, g_strdup_printf("%s: %s", job->source->path, error->message));
}

static bool open_directory(Writer *writer, GError **error) {
        if (writer->directory_fd < 0)
                writer->directory_fd = open(writer->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return writer->directory_fd >= 0 || error_set_errno(error, errno, "'%s'", writer->directory);
}

static bool write_text(Writer *writer, const Job *job, GError **error) {
        return open_directory(writer, error) &&
               (job->links ? emit_unit : emit_file)(writer->directory_fd, job->name, job->text, error);
}

static void write_job(Writer *writer, const Job *job) {
        g_autoptr(GError) error = NULL;

        if (!write_text(writer, job, &error)) {
                add_problem(writer, job, error);
                return;
        }
        for (guint i = 0; job->links && i < job->links->len; i++) {
                const Link *link = job->links->pdata[i];

                if (!emit_link(writer->directory_fd, link->path, link->target, &error)) {
                        add_problem(writer, job, error);
                        g_clear_error(&error);
                }
        }
}

static void write_jobs(Writer *writer, const GPtrArray *jobs) {
        for (guint i = 0; i < jobs->len; i++)
                write_job(writer, jobs->pdata[i]);
}

static void *run_thread(void *data) {
        Writer *writer = data;
        bool is_last = false;

        while (!is_last) {
                g_autoptr(GPtrArray) jobs = g_async_queue_pop(writer->queue);

                is_last = jobs->len == 0;
                write_jobs(writer, jobs);
        }
        return NULL;
}

static void hand_over(Writer *writer) {
        if (!writer->thread)
                writer->thread = g_thread_new("writer", run_thread, writer);
        g_async_queue_push(writer->queue, g_steal_pointer(&writer->jobs));
        writer->jobs = g_ptr_array_new_with_free_func(job_free);
}

Writer *writer_new(const char *directory) {
        Writer *writer = g_new0(Writer, 1);

        writer->directory = directory;
        writer->directory_fd = -1;
        writer->jobs = g_ptr_array_new_with_free_func(job_free);
        writer->queue = g_async_queue_new();
        writer->problems = g_ptr_array_new_with_free_func(g_free);
        return writer;
}

void writer_put_unit(Writer *writer, const SourceFile *source, const char *name, GString *text,
                     GPtrArray *links) {
        Job *job = g_new0(Job, 1);

        *job = (Job){ source, g_strdup(name), text, links };
        g_ptr_array_add(writer->jobs, job);
        if (writer->jobs->len == UNITS_AT_ONCE)
                hand_over(writer);
}

void writer_put_file(Writer *writer, const SourceFile *source, const char *name, GString *text) {
        writer_put_unit(writer, source, name, text, NULL);
}

GPtrArray *writer_finish(Writer *writer) {
        GPtrArray *problems = writer->problems;

        if (writer->thread) {
                if (writer->jobs->len > 0)
                        hand_over(writer);
                hand_over(writer);
                g_thread_join(writer->thread);
        } else
                write_jobs(writer, writer->jobs);
        g_ptr_array_unref(writer->jobs);
        g_async_queue_unref(writer->queue);
        if (writer->directory_fd >= 0)
                close(writer->directory_fd);
        g_free(writer);
        return problems;
}
