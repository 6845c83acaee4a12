/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* The unit that makes a container's network ahead of it and keeps it over restarts: an instance of keyturn-network@.service,
 * named like the container's service, with a drop-in that says what is to be made. A template, whose instances are not known,
 * has a template of its own: keyturn-network-NAME@.service. */

/* To be called when the container's name is known. Nothing where it is in no network that is made for it. */
void network_unit_finish(Container *container);

/* The line that asks for a network, or NULL. */
const UnitLine *network_unit_line(const Container *container);

/* Where netavark is looked for, first to last; NULL-terminated. */
extern const char *const network_unit_netavark_paths[];
