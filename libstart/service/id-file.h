/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/request/request.h"

/* Writes the container's name, which is its id, to request->id_file (podman's --cidfile), as the unit's ExecStopPost=
 * removes it. A file that is left of a machine that lost its power is replaced, and no link is followed that is in
 * its place. */
bool id_file_write(const ContainerRequest *request, GError **error);
