/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The stop of a payload whose image names another signal than its unit does. systemd sends what KillSignal= says, the
 * generator does not know the image, and once a unit is loaded nothing changes its KillSignal=. So there is a second
 * unit, keyturn-stop@NAME.service: it has no process, is bound to the container's, and is stopped before that. Its
 * ExecStop= sends the signal, and waits for the payload to end (ctl/stop.c).
 *
 * Only libstart starts it, and only for such an image: no other start or stop knows of it. */

/* Start it for `unit`, the container's: systemd lets it wait until that has started. Where this fails it is logged,
 * and the payload runs all the same. */
void stop_unit_start(const char *unit, int signal);
