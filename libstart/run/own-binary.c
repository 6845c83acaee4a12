/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/exit-codes.h"
#include "libstart/run/own-binary.h"

/* CVE-2019-5736: a container must not get hold of the host's runtime binary. An image can name /proc/self/exe, or a
 * script with that interpreter, as its payload; what is then executed, inside, is this program. Code of the image that
 * runs beside it, or that is loaded into it (iconv and NSS load libraries even into a static program, here from the
 * image), could open /proc/PID/exe, wait for the program to end, and write to the file on the host.
 *
 * libcrun's answer is to execute the program once more at every start, from a read-only copy of its mount. That costs
 * a fifth of a container's start. A program that is linked dynamically needs it all the same, as its loader comes from
 * the image, and does it in main(): libstart/base/own-program.c. Of a static one, ours follows from what keyturn is:
 *  - Every container has a pid namespace of its own, and its first process runs this program only until it executes
 *    the payload. Nothing else is in there before that, and nothing in there runs this program after it, but
 *  - a payload that is this program; and that is pid 1. So this program refuses to be pid 1, before anything of the
 *    image can be read.
 * Until it executes the payload the first process is not dumpable either (libcrun, PR_SET_DUMPABLE), so that its
 * /proc/PID/exe is closed to a debugger that entered the container.
 *
 * Promise to keep elsewhere: no option of keyturn may let containers share a pid namespace without giving up this
 * shortcut. tests/booted/hostile-image attacks it, linked in both ways. */
void own_binary_refuse_container(void) {
        static const char message[] = "libstart: refusing to be the payload of a container\n";

        if (getpid() != 1)
                return;
        (void) !write(STDERR_FILENO, message, sizeof message - 1);
        _exit(EXIT_KEYTURN);
}
