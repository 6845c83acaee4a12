/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/request.h"

/* The hooks of hooks.d for this container, in their order. keyturn-generator has found most of them; of those that it
 * could not decide, the ones that match now that all is known. command: the first word of what is executed.
 * directory: where the program that is asked works. Transfer full: of HookFile. */
GPtrArray *hook_choice_make(const ContainerRequest *request, const char *command, const char *directory,
                            GError **error);
