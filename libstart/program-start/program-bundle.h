/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/runtime/runtime-container.h"

/* Write the config.json that a runtime program is given: the spec, with what libcrun is told in other ways. */
bool program_bundle_write(const RuntimeContainer *container, const char *directory, GError **error);
