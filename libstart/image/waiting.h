/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Containers that wait for an image: their start has failed with EXIT_NO_IMAGE, because what brings it had. No
 * process waits, and no timer of theirs: systemd tries again what brings the image, and when that succeeds, they are
 * started. */

/* Start those of `unit`, whose image is there. What goes wrong is logged. */
void waiting_start(const char *unit);
