/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

/* What every static program does before main(), and this one need not: the linker's --wrap puts these in its place. In
 * a program that is linked dynamically nobody calls them. */

/* Where the program's file is, for $ORIGIN in the names of libraries; libstart loads none that are beside it. The first
 * look at /proc/self takes the kernel 30 us, and is to be undone when the process ends. -1: it is not known. */
const char *__wrap__dl_get_origin(void);

const char *__wrap__dl_get_origin(void) {
        return (const char *) -1;
}

/* Tells the unwinder of C++'s exceptions, which nothing here throws, where its tables are. That of GCC 13 and later
 * goes through all of them: another 200 KiB to be mapped. */
void __wrap___register_frame_info(const void *tables, void *object);
void *__wrap___deregister_frame_info(const void *tables);

void __wrap___register_frame_info(const void *tables, void *object) {}

void *__wrap___deregister_frame_info(const void *tables) {
        return NULL;
}
