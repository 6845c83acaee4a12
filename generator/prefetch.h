/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Have the kernel read what a start comes to of libstart's file into its page cache, without waiting for it. Nothing
 * happens where libstart is not installed, or where the linker has not laid that side by side. */
void prefetch_libstart(void);
