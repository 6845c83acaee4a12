/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Removes a bridge that no interface is in. What is no bridge, or not there, or in use, stays. */
void bridge_remove_unused(const char *name);
