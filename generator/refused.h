/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/container.h"

/* Make the service of a refused file one whose start fails and says what is wrong with the file, so that `systemctl start`,
 * `status` and `--failed` show it. Everything else of the service stays: a container that still runs is stopped as it
 * would have been, and keyturnctl finds it. */
void refused_service(Container *container);
