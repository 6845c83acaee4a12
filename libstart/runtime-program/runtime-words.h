/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/request.h"

/* Where it has its things: in the container's directory on /run, so that they go with it. */
#define RUNTIME_PROGRAM_STATE ".private/runtime"
#define RUNTIME_PROGRAM_LOG ".private/runtime.log"

/* The first words of each call, "runc --root DIR": append the command's. `state_dir`: the container's, absolute; in a
 * unit it may still have specifiers. Free with g_ptr_array_unref(). */
GPtrArray *runtime_program_words(const char *program, const char *state_dir);

/* The same for creating and starting the container of this request: with what this runtime has to be told so that the
 * container stays in its service's control group, has its network and its filter; what it says goes to the log. */
GPtrArray *runtime_program_start_words(const ContainerRequest *request, const char *state_dir);
