/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/keys.h"

/* Every key of [Kube]. */
extern const KeyTable keys_kube;

/* The service of a .kube file: it starts and stops the pods that generator/kube-files.h has made files of, which have
 * its path. */
Container *kube_service_convert(const SourceFile *source, char *service_name, const UnitNames *names);
