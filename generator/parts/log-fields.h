/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_log_fields;

/* [Keyturn] LogFields=yes: the journal has the fields that log shippers know containers by, those of Podman's and
 * Docker's journald drivers, in all that is logged for the service. Called when container->args is complete. */
void log_fields_set(Container *container);
