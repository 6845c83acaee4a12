/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "generator/emit.h"
#include "generator/install.h"
#include "generator/pipeline.h"
#include "generator/writer.h"
#include "libstart/base/error.h"

typedef struct Job {
        const SourceFile *source;
        char *name;
        mode_t mode;
        GString *text;
        GPtrArray *links; /* of a unit; NULL: not a unit */
        GError *error;    /* why it could not be written */
} Job;

struct Writer {
        const char *directory;
        int directory_fd;    /* opened with the first file */
        Pipeline *pipeline;  /* of Job: files, then links */
        GPtrArray *problems; /* of char* */
};

static void job_free(Job *job) {
        g_free(job->name);
        g_string_free(job->text, TRUE);
        g_clear_pointer(&job->links, g_ptr_array_unref);
        g_clear_error(&job->error);
        g_free(job);
}

static bool open_directory(Writer *writer, GError **error) {
        if (writer->directory_fd < 0)
                writer->directory_fd = open(writer->directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return writer->directory_fd >= 0 || error_set_errno(error, errno, "'%s'", writer->directory);
}

static void write_file(void *item, void *data) {
        Writer *writer = data;
        Job *job = item;

        if (open_directory(writer, &job->error))
                (void) (job->links ? emit_unit : emit_file)(writer->directory_fd, job->name, job->mode, job->text,
                                                            &job->error);
}

static void add_problem(Writer *writer, const Job *job, const GError *error) {
        g_ptr_array_add(writer->problems, g_strdup_printf("%s: %s", job->source->path, error->message));
}

static void make_links(Writer *writer, const Job *job) {
        for (guint i = 0; job->links && i < job->links->len; i++) {
                const Link *link = job->links->pdata[i];
                g_autoptr(GError) error = NULL;

                if (!emit_link(writer->directory_fd, link->path, link->target, &error))
                        add_problem(writer, job, error);
        }
}

static void finish_job(void *item, void *data) {
        Writer *writer = data;
        Job *job = item;

        if (job->error)
                add_problem(writer, job, job->error);
        else
                make_links(writer, job);
        job_free(job);
}

Writer *writer_new(const char *directory) {
        Writer *writer = g_new0(Writer, 1);

        writer->directory = directory;
        writer->directory_fd = -1;
        writer->pipeline = pipeline_new("writer", write_file, finish_job, writer);
        writer->problems = g_ptr_array_new_with_free_func(g_free);
        return writer;
}

void writer_put_unit(Writer *writer, const SourceFile *source, const char *name, mode_t readers, GString *text,
                     GPtrArray *links) {
        Job *job = g_new0(Job, 1);

        *job = (Job) { source, g_strdup(name), 0600 | readers, text, links };
        pipeline_put(writer->pipeline, job);
}

void writer_put_file(Writer *writer, const SourceFile *source, const char *name, mode_t readers, GString *text) {
        writer_put_unit(writer, source, name, readers, text, NULL);
}

GPtrArray *writer_finish(Writer *writer) {
        GPtrArray *problems = writer->problems;

        pipeline_finish(writer->pipeline);
        if (writer->directory_fd >= 0)
                close(writer->directory_fd);
        g_free(writer);
        return problems;
}
