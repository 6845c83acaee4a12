/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"

/* The service of a .kube file: it stops the pods that generator/kube-files.h has made files of, which have
 * its path. */
Conversion *kube_service_convert(const SourceFile *source, char *service_name, const UnitNames *names);

/* Has it start them. Their files have been read, and none is refused. */
void kube_service_start_parts(Conversion *kube);
