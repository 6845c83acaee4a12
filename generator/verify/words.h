/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* Warn of words that mean something to a shell or to other formats, and stand where nobody reads them so. Of the file
 * alone. */
void words_check(const MadeUnit *unit, Report *report);
