/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* A quantity of Kubernetes ("1.5", "500m", "64Mi", "1e3") in thousandths, rounded up. False for what is none, is
 * negative, or has more than 9 * 10^15. */
bool quantity_parse(const char *text, guint64 *ret_thousandths);
