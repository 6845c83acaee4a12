/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* How namespaces are removed, with the remains of killed processes. The caller has the lock (network-lock.h). So
 * nobody else is at work, and a half-made namespace was left by a killed process. */

/* Marks a namespace for removal, so that the next caller finishes it if this one is killed. Needs no lock, as the
 * only function here. */
void removal_announce(const char *unit);

/* Removes every marked or half-made namespace, and logs failures. */
void removal_sweep(const NetworkConf *conf);

/* Removes one, whole or not. No such namespace is no error. */
bool removal_run(const NetworkConf *conf, const char *unit, GError **error);
