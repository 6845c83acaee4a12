/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* Can systemd be told to allow all devices of the options? */
bool devices_check(const LaunchArgs *args, GError **error);

/* May the payload open the node of any device, other than the harmless ones of its own /dev, if systemd lets it? */
bool devices_may_be_had(const LaunchArgs *args);

/* DeviceAllow= of the service, for the devices of container->args, which are checked. */
void devices_service(Container *container);
