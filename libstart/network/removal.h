/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* How namespaces go, and how what a kill has left goes with them. Whoever calls has the lock (network-lock.h), so that nobody
 * else is at work, and what is not whole is somebody's who was killed. */

/* Says that a namespace is to go, so that whoever comes next removes it should its remover be killed. The only one that is
 * called without the lock. */
void removal_announce(const char *unit);

/* Removes all that was announced or is not whole. What cannot be removed is logged. */
void removal_sweep(const NetworkConf *conf);

/* Removes one, whole or not. No such namespace is no error. */
bool removal_run(const NetworkConf *conf, const char *unit, GError **error);
