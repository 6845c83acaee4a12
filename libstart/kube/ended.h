/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* ExitCodePropagation= of a .kube file: how its service ends, once all of its containers have. */

/* What an init container's unit has before its name here. */
#define KUBE_INIT "init:"

/* False, with what is to be said of it, where the containers' units have ended so that the service has failed.
 * policy: "any" or "all". A service that is stopped while one of them is active or on its way has not failed.
 * Where an init container has failed, no other has started: with Podman, neither has the service. */
bool kube_ended(const char *policy, const char *const *units, GError **error);
