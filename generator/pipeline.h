/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Two steps of work on each of many items: the first is done by a thread, the second by the caller's, in the
 * order in which the items were put. Where there are few, the caller does both, and there is no thread. */
typedef struct Pipeline Pipeline;

typedef void (*PipelineStep)(void *item, void *data);

/* name: of the thread, static. What the first step uses besides its item must be its alone until
 * pipeline_finish(). */
Pipeline *pipeline_new(const char *name, PipelineStep first, PipelineStep second, void *data);

/* May do the second step of items that were put before. */
void pipeline_put(Pipeline *pipeline, void *item);

/* Do all that is left, and free the Pipeline. */
void pipeline_finish(Pipeline *pipeline);
