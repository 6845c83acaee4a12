/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What --health-cmd and --health-startup-cmd say: a JSON array, CMD and words, or text for the shell. What Podman 5.4
 * makes of each form was seen with its `podman inspect`. */

/* The command is "none": nothing is to be run, not what the image says either. */
bool health_command_is_none(const char *text);

/* The words that are executed; *ret is NULL for none. What podman would take, and then run something that nobody
 * means, is an error: "cmd" in small letters for example, which would be a program of that name. Transfer full. */
bool health_command_parse(const char *text, char ***ret, GError **error);

/* The shell's words for a command that is joined from these. Transfer full. */
char **health_command_for_shell(char *const *words);
