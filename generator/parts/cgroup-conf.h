/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/container.h"

/* --cgroup-conf: files of a cgroup and what Podman writes into them, FILE=VALUE with commas between. Those that
 * systemd has a setting for become that setting of [Service], as systemd writes these files itself. Others are
 * errors. */
bool cgroup_conf_apply(Container *container, const char *value, GError **error);
