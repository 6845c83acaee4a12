/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where the program's file is. The C library asks at the start of a static program, for $ORIGIN in the names of
 * libraries that it might load; this one loads none that are beside it. The first look at /proc/self takes the kernel
 * 30 us and is to be undone when the process ends, so the linker's --wrap lets it be. -1 says that it is not known. */
const char *__wrap__dl_get_origin(void);

const char *__wrap__dl_get_origin(void) {
        return (const char *) -1;
}
