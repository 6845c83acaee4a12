/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "libstart/request/launch-fields.h"

/* The seam of the project: what a container is to be, as the generator writes it into ExecStart= and `libstart run`
 * reads it back. Names and meanings are those of `podman run` (podman-run(1)), of which this is a subset; options of
 * our own are marked. Both directions come from one table (launch-option.c), and parse(build(x)) == x.
 *
 * Values stay strings here: in the generator they may still hold systemd's specifiers (%i) and variables (${NAME}),
 * which systemd expands before libstart sees them. What they mean is a ContainerRequest (launch-request.h). */

LaunchArgs *launch_args_new(void);
void launch_args_free(LaunchArgs *args);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LaunchArgs, launch_args_free)

/* Add one option, by its long name without dashes ("ulimit"). A list grows, anything else is replaced. `value` is
 * copied; for a flag it is "true" or "false" (podman's spellings: 1 t T TRUE true True, 0 f F FALSE false False).
 * The value is checked as far as it is known: one that still holds % or $ is left for libstart to check.
 * Fails with KT_ERROR_USAGE, naming the option, and leaves args as it was. */
bool launch_args_set(LaunchArgs *args, const char *option, const char *value, GError **error);

/* How many words the option that `word` begins has: 1 or 2. 0 if it is none that there is. */
unsigned launch_args_option_words(const char *word);

/* Add options only, as PodmanArgs= has them: a word that is no option is an error. Values are checked as by
 * launch_args_set(). `words` is NULL-terminated. */
bool launch_args_parse_options(LaunchArgs *args, const char *const *words, GError **error);

/* Options, then the image, then the command. "--" ends the options. Values are not looked at, as in a unit they may
 * still hold what systemd is to expand. Only a value that a later option replaces is checked here: nobody else sees
 * it. */
LaunchArgs *launch_args_parse(const char *const *words, GError **error);

/* The words of a command line that mean `args`, in the order of the table. An option and its value are two words,
 * so that systemd expands a value that is only "$NAME" as Quadlet's users expect. Transfer container: the words
 * belong to `args`. */
GPtrArray *launch_args_build(const LaunchArgs *args);

/* Append all of launch_args_build() so: the rest of an ExecStart=. */
void launch_args_append(const LaunchArgs *args, GString *line);

/* The value of the last NAME=VALUE in a list of values, labels for example; or NULL. */
const char *launch_args_last(const GPtrArray *values, const char *name);

/* Is the image looked for in the owner's own store first? */
bool launch_args_has_users_store(const LaunchArgs *args);

/* One line of help an option, for --help and the man page's test. Transfer full. */
char *launch_args_help(void);
