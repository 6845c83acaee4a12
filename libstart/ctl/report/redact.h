/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Text that goes to strangers, without what may be secret: passwords stand in variables, in commands, in labels, in
 * comments, and where somebody has misspelled a key. So only values of keys that are known to hold none are shown.
 * All of this is pure. */

#define REDACTED "…"

/* A unit, a file of Quadlet's or a drop-in. Sections and keys stay, and the values of keys that hold no secrets; of
 * commands and PodmanArgs= the names of options that libstart knows. Comments, and lines that are none of that, go.
 * Transfer full. */
char *redact_unit(const char *text);

/* What the generator says: "PATH:LINE: 'KEY=': why". Of other keys than those only where it is. Transfer full. */
char *redact_messages(const char *text);
