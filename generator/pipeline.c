/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdbool.h>

#include "generator/pipeline.h"

/* Fewer are not worth a thread. */
#define ITEMS_AT_ONCE 32

struct Pipeline {
        const char *name;
        PipelineStep first, second;
        void *data;
        GPtrArray *batch;   /* items that are not handed over yet */
        GThread *thread;    /* NULL until the first batch is handed over */
        GAsyncQueue *queue; /* of batches, to the thread; an empty one ends it */
        GAsyncQueue *done;  /* and back */
        unsigned away;      /* batches that have not come back */
};

static void do_step(const Pipeline *pipeline, PipelineStep step, const GPtrArray *batch) {
        for (guint i = 0; i < batch->len; i++)
                step(batch->pdata[i], pipeline->data);
}

static void *run_thread(void *data) {
        Pipeline *pipeline = data;
        bool is_last = false;

        while (!is_last) {
                GPtrArray *batch = g_async_queue_pop(pipeline->queue);

                is_last = batch->len == 0;
                do_step(pipeline, pipeline->first, batch);
                g_async_queue_push(pipeline->done, batch);
        }
        return NULL;
}

/* Takes ownership of batch. */
static void take_back(Pipeline *pipeline, GPtrArray *batch) {
        do_step(pipeline, pipeline->second, batch);
        g_ptr_array_unref(batch);
        pipeline->away--;
}

static void do_both_steps(Pipeline *pipeline) {
        do_step(pipeline, pipeline->first, pipeline->batch);
        do_step(pipeline, pipeline->second, pipeline->batch);
        g_ptr_array_set_size(pipeline->batch, 0);
}

static void hand_over(Pipeline *pipeline) {
        GPtrArray *done;

        if (!pipeline->thread)
                pipeline->thread = g_thread_try_new(pipeline->name, run_thread, pipeline, NULL);
        if (!pipeline->thread) { /* slower, but nothing is missing */
                do_both_steps(pipeline);
                return;
        }
        g_async_queue_push(pipeline->queue, g_steal_pointer(&pipeline->batch));
        pipeline->away++;
        pipeline->batch = g_ptr_array_sized_new(ITEMS_AT_ONCE);
        while ((done = g_async_queue_try_pop(pipeline->done)))
                take_back(pipeline, done);
}

Pipeline *pipeline_new(const char *name, PipelineStep first, PipelineStep second, void *data) {
        Pipeline *pipeline = g_new0(Pipeline, 1);

        pipeline->name = name;
        pipeline->first = first;
        pipeline->second = second;
        pipeline->data = data;
        pipeline->batch = g_ptr_array_sized_new(ITEMS_AT_ONCE);
        pipeline->queue = g_async_queue_new();
        pipeline->done = g_async_queue_new();
        return pipeline;
}

void pipeline_put(Pipeline *pipeline, void *item) {
        g_ptr_array_add(pipeline->batch, item);
        if (pipeline->batch->len == ITEMS_AT_ONCE)
                hand_over(pipeline);
}

void pipeline_finish(Pipeline *pipeline) {
        if (pipeline->thread) {
                if (pipeline->batch->len > 0)
                        hand_over(pipeline);
                hand_over(pipeline);
                while (pipeline->away > 0)
                        take_back(pipeline, g_async_queue_pop(pipeline->done));
                g_thread_join(pipeline->thread);
        } else
                do_both_steps(pipeline);
        g_ptr_array_unref(pipeline->batch);
        g_async_queue_unref(pipeline->queue);
        g_async_queue_unref(pipeline->done);
        g_free(pipeline);
}
