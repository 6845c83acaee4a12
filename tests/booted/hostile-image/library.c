/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library of a hostile image, which whoever loads it shall regret: tells in /stolen what it could do. Linked with
 * nothing: the C library is that of the program it is loaded into. */
#include <fcntl.h>
#include <unistd.h>

__attribute__((constructor)) static void begin(void) {
        char text[4096];
        int in = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
        int out = open("/stolen", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        ssize_t n = read(in, text, sizeof text);

        (void) !write(out, text, n > 0 ? (size_t) n : 0);
        close(in);
        close(out);
}
