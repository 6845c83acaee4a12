/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* The hooks of the machine, read where the first container asks for them. */
typedef struct Hooks Hooks;

/* root: NULL for this machine's. */
Hooks *hooks_new(const char *root);
void hooks_free(Hooks *hooks);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hooks, hooks_free)

/* Gives the container those hooks that can be for it. Where there are none, its start knows nothing of hooks. */
void hooks_finish(Conversion *container);

/* Whether one of them can give it devices that systemd does not know of. */
bool hooks_may_add_devices(const Conversion *container);

/* ExecStopPost= of the service, for the hooks that are run after the end. */
void hooks_service(Conversion *container);

/* Are there any on the machine? Also true where that cannot be known. */
bool hooks_are_there(Hooks *hooks);
