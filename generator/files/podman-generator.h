/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "generator/files/tree.h"

/* Will systemd run Podman's generator, which reads the same files? It is installed, executable and not masked. */
bool podman_generator_is_active(const Tree *tree, bool is_users);
