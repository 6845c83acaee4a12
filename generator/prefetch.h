/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Have the kernel read what a start executes into its page cache, without waiting for it. Nothing happens where libstart
 * is not installed. */
void prefetch_libstart(void);
