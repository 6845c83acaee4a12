/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* keyturnctl on another machine, through ssh(1). */

/* Which machine the first word asks for: -H HOST, -HHOST, --host HOST or --host=HOST. *rest: where the command
 * begins, in `words`, which is NULL-terminated. Returns NULL where no machine is asked for; "" where its name
 * is missing. */
const char *remote_find_host(char **words, char ***rest);

/* What is to be executed, NULL-terminated. The host's name cannot be an option of ssh's, and the login shell
 * over there (a POSIX one) takes the words for nothing but words. terminal: whether the command is to have one.
 * NULL with an error where the host's name is none. */
char **remote_make_call(const char *host, char *const words[], bool terminal, GError **error);

/* Does not return but with an error: false. */
bool remote_execute(const char *host, char *const words[], GError **error);
