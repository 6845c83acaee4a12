/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* LogDriver= and LogOpt=. Of drivers that write files the journal keeps the lines, which a warning says: as with
 * Podman, what is logged is kept, and limited. With LogOpt=path= the file has them. */
KeyHandler handle_log_driver, handle_log_option;

/* Called when keys and PodmanArgs= have been applied. */
void log_driver_finish(Conversion *container);

/* [Keyturn] LogFields=yes: the journal has the fields that log shippers know containers by, those of Podman's and
 * Docker's journald drivers, in all that is logged for the service. */
KeyHandler handle_log_fields;

/* Called when container->args is complete. */
void log_fields_set(Conversion *container);
