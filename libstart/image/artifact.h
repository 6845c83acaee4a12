/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "libstart/image/tool-words.h"

/* Bring an artifact (store/artifact.h) into Podman's store of them, unless it is there, by skopeo or podman. Others
 * who change that store are waited for. request->artifacts is set by this. */
bool artifact_pull(PullRequest *request, GError **error);
