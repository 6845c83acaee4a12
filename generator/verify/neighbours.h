/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/verify/generation.h"

/* What is right in each file, and goes wrong beside others: on this machine as it is now, or in the tree below root.
 */

/* Warn of one port that two files publish. Of the files alone. */
void neighbours_check_ports(const Generation *generation, Report *report);

/* Warn of a network that nobody has described, of an interface that is not there, and of keys of Quadlet's in a
 * drop-in of the service. */
void neighbours_check_machine(const Generation *generation, const MadeUnit *unit, const char *root, Report *report);
