/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <ocispec/runtime_spec_schema_config_schema.h>
#include <stdbool.h>

/* Runs a hook, gives it `input`, and waits for its end, at most as long as its timeout. Without an environment of its
 * own it has none, as with Podman. ret_output: what it has printed; transfer full; NULL if nobody asks. Fails with
 * the hook's name, how it ended, and what it said last on its standard error. */
bool hook_process_run(const runtime_spec_schema_defs_hook *hook, const char *directory, const char *input,
                      char **ret_output, GError **error);
