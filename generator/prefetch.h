/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Have the kernel read a file of this machine into its page cache, without waiting for it. A file that is not there is
 * nobody's concern here. */
void prefetch_file(const char *path);
