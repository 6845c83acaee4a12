/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* What the next program that this process executes is confined by: the spec's SELinux label and AppArmor profile,
 * where it has them. Needs the host's /proc. */
bool exec_label_set(const runtime_spec_schema_config_schema_process *process, GError **error);
