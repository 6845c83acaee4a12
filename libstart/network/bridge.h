/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Removes a bridge that no interface is in. What is no bridge, or not there, or in use, stays. */
void bridge_remove_unused(const char *name);

/* Whether it is a bridge with ports. netavark removes it, and its rules, with the last one. */
bool bridge_is_used(const char *name);
