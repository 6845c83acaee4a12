/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <seccomp.h>

/* The BPF of a libseccomp context. Two sources, of which meson builds one: filter-export-mem.c where
 * libseccomp can write into memory (2.6 on), filter-export-memfd.c where it only writes into a file
 * descriptor. */
GBytes *filter_export(scmp_filter_ctx context, GError **error);
