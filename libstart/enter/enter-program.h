/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/enter/enter.h"

/* As enter_run(): by crun's library, or for a container of another OCI runtime (entry->runtime) by its exec, with its
 * ids and its filter, which only it knows. That takes this process's place, and returns only with an error. */
int enter_command(const Entry *entry, EnterProcess *process, const char *console_socket, GError **error);
