/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* What keyturn-generator has asked for, in this boot: an array of SeccompRequest. root: "" or a directory
 * that stands for /. No drop-in is an empty array: there are no containers. */
GPtrArray *requests_load(const char *root, GError **error);

/* The same from one file. */
GPtrArray *requests_load_file(const char *path, GError **error);
