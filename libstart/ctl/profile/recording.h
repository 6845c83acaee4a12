/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/ctl/profile/samples.h"

/* perf(1), which takes samples of all processors while it is told to. It is killed with us.
 *
 * The threat: perf looks for the names of functions in files. Which ones these are says a payload, by what it maps,
 * and what is in them, too. So what records opens no such file, and what reads the recording is nobody, without
 * capabilities: it cannot enter a payload's mount namespace, and reads what everybody on the host may read. */
typedef struct Recording Recording;

/* Nothing is recorded yet. frequency: samples a second, of each processor. */
Recording *recording_begin(guint frequency, GError **error);

/* Returns when perf has done it. */
bool recording_switch(Recording *recording, bool on, GError **error);

/* Or until perf has ended, of which the next switch tells. */
void recording_wait(const Recording *recording, guint seconds);

/* The end of it; what it has found is added to `samples`. */
bool recording_read(Recording *recording, Samples *samples, GError **error);

void recording_free(Recording *recording);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Recording, recording_free)
