/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_add_device;

/* Can systemd be told to allow all devices of the options? */
bool devices_check(const LaunchArgs *args, GError **error);

/* Does one of the options name a device of CDI? */
bool devices_have_cdi(const LaunchArgs *args);

/* DevicePolicy= and DeviceAllow= of the service, for the devices of container->args, which are checked. */
void devices_service(Conversion *container);
