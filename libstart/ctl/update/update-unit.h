/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/ctl/container/container-units.h"

/* Has it a process that says of its image that it works? */
bool update_runs(const ContainerUnit *container);

/* The id of the image that it has been started with; NULL where it does not run. Transfer full. */
char *update_find_image(const ContainerUnit *container);

/* Was an update killed that had made systemd forget the service's failure, and had not restarted it yet? Then it is
 * inactive, and nobody has stopped it. */
bool update_was_restarting(const ContainerUnit *container);

/* Starts a container's service anew, also one that has failed too often. Waits until it is up: READY=1 where the
 * payload says so, else until the payload is executed. Notes how often systemd had restarted it by then. */
bool update_restart(ContainerUnit *container, GError **error);

/* Waits until it is sure that these containers work with their new image. Those with health checks are healthy then;
 * else, where the payload does not say READY=1 itself, it must run for so many seconds with no more restarts than are
 * noted. */
bool update_await(const GPtrArray *containers, int seconds, GError **error);

/* Has an inactive container ended by itself in this boot, and was it started after `since` (microseconds since 1970)?
 * Not where somebody has stopped it, nor where it is there to end (Type=oneshot). */
bool update_has_ended(const ContainerUnit *container, gint64 since);
