/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "libstart/request/request.h"

/* The hooks of hooks.d that are for this container, in their order: those that keyturn-generator has found to be, and
 * those of its doubtful ones that are now that all is known. command: the first word of what is executed. directory:
 * where the program that is asked works. Transfer full: of HookFile. */
GPtrArray *hook_choice_make(const ContainerRequest *request, const char *command, const char *directory,
                            GError **error);
