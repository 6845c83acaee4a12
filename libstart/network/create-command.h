/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/network/network-plan.h"

/* Describes the network, as `podman network create --ignore` does: one that there is stays what it is. */
bool create_command(const CreateOptions *options, GError **error);

/* Forgets it. Fails while a container is in it. */
bool delete_command(const char *name, GError **error);
