/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/host-facts.h"
#include "libstart/oci/image-config.h"
#include "libstart/option/launch-args.h"

/* The container's seccomp filter, raw BPF. *ret is NULL only where args say "seccomp=unconfined"; a filter that
 * cannot be had is an error. */
bool filter_load(const LaunchArgs *args, const ImageConfig *image, const HostFacts *host, GBytes **ret,
                 GError **error);
