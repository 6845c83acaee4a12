/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/request/launch-fields.h"
#include "libstart/request/request.h"

/* What a container whose request names another OCI runtime (--runtime-program) cannot have. Some of it no runtime can
 * be told of in its config.json; most of it gVisor would leave out without a word, and a container must not have less
 * protection than its file asks for. False with KT_ERROR_UNSUPPORTED, and with the name of the option. */
bool runtime_rules_check(const LaunchArgs *args, const ContainerRequest *request, const char **ret_option,
                         GError **error);
