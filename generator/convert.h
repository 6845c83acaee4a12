/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Make a service of a file, whichever its kind, also of one whose service cannot have its name: what else is wrong
 * with it is to be said at once. Never fails: look at the findings. Transfer full. */
Conversion *convert_file(const Run *run, const SourceFile *source);

/* The same where the file is not among those that were read; takes ownership of `service`. */
Conversion *convert_as(const Run *run, const SourceFile *source, char *service);
