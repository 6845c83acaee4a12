/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_cgroups_mode, handle_memory, handle_pids_limit;

/* --memory-swap: how much memory and swap together; "-1" for no limit. */
bool cgroup_limits_set_memory_swap(Conversion *container, const char *value, GError **error);

/* The same, of swap alone. */
bool cgroup_limits_set_swap(Conversion *container, const char *value, GError **error);

/* What counts of a setting of [Service] that an option sets, too. */
typedef enum LimitChoice {
        LIMIT_UNKNOWN,
        LIMIT_OF_SERVICE,
        LIMIT_OF_OPTION,
} LimitChoice;

/* With Podman both do, in two cgroups, one in the other: of limits the smaller one, of weights the outer one, as
 * nothing competes in it with the payload. OOMPolicy= is how the service ends, whatever the inner one would do. Which
 * limit is smaller cannot be known of a percentage of the machine's memory, for example. */
LimitChoice cgroup_limits_choose(const char *setting, const char *of_service, const char *of_option);

/* Have [Service] say what an option says, which is named in warnings and problems. Where it says something itself, as
 * cgroup_limits_choose() has it. value "infinity": no limit. */
void cgroup_limits_put(Conversion *container, const char *setting, const char *value, const char *option);

/* PidsLimit= and Memory=: Podman sets them on a cgroup of the container's own. Here the payload is in its service's
 * cgroup, so they become settings of [Service]. Called after the keys of [Container] have been applied. */
void cgroup_limits_service(Conversion *container);
