/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "generator/unit/writer.h"

/* Health checks. What is run stands in the container's own unit; systemd's timers say when. */

/* What the keys say together, when all of them are known. */
void health_finish(Conversion *container);

/* keyturn-health-NAME.timer and keyturn-startup-health-NAME.timer, where the file asks for them. The
 * first check starts them. For an image's own check the timer is made later: no image is looked at here. */
void health_put_timers(const Conversion *container, Writer *writer);
