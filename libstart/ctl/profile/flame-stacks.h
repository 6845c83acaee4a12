/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/ctl/profile/flame.h"

/* The stacks of a flame graph as text, which its picture has inside, so that two pictures can be compared. Pure. */

/* msec: of one sample. Transfer full. */
char *flame_stacks_format(const FlameFrame *root, double msec);

/* What a picture has inside. A file can say anything: names are printable (base/printable.h), and no more than
 * FLAME_DEPTH_MAX functions are below each other. Fails with KT_ERROR_USAGE for what is no such picture. *ret_msec:
 * of one sample. Transfer full. */
FlameFrame *flame_stacks_read(const char *svg, gsize length, double *ret_msec, GError **error);

#define FLAME_STACKS_BEGIN "<metadata id=\"stacks\">"
#define FLAME_STACKS_END "</metadata>"
