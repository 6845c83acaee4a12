/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Have the kernel read a file of this machine into its page cache, without waiting for it. Nothing happens where
 * there is no such file. */
void prefetch_file(const char *path);
