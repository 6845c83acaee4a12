/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* What is done with a file whatever its kind: lines that are none and unknown sections are said, and names of Quadlet
 * files in [Unit] become those of their services. To be called first. */
void sections_begin(Conversion *container);

/* What a container adds to systemd's own sections [Unit] and [Service], and what it refuses there. Called when
 * container->args is complete. */
void sections_unit(Conversion *container);
void sections_unit_of_pod(Conversion *pod);
void sections_service(Conversion *container);

/* SourcePath=; none of a file that is gone, of which only the name is known. */
void sections_source_path(Conversion *container);
