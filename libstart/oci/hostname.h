/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/host-facts.h"
#include "libstart/option/launch-args.h"

/* The container's host name: as given; else the machine's own with the host's network; else twelve
 * hexadecimal digits, as podman has them, but always the same ones for a container of the same name.
 * Transfer full. */
char *hostname_choose(const LaunchArgs *args, const HostFacts *host);
