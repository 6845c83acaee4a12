/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* --cgroup-conf: files of a cgroup and what Podman writes into them, FILE=VALUE with commas between. Those that
 * systemd has a setting for become that setting of [Service], as systemd writes these files itself. Others are
 * errors. */
bool cgroup_conf_apply(Conversion *container, const char *value, GError **error);

/* What systemd calls such a value; NULL is an error. Transfer full. */
typedef char *CgroupConvert(const char *value, GError **error);

CgroupConvert cgroup_convert_size;

/* Have [Service] say what such an option says. */
bool cgroup_setting_apply(Conversion *container, const char *setting, CgroupConvert *convert, const char *value,
                          GError **error);
