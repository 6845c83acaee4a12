/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/network/network-plan.h"

/* The plan as a file of Podman's that defines a network. Transfer full; NULL with an error. */
char *plan_json_print(const NetworkPlan *plan, GError **error);
