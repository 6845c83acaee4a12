/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

/* Spins in code of no file, as what a compiler has made at run time. For x86-64. */

int main(void) {
        static const unsigned char jump_to_itself[] = { 0xeb, 0xfe };
        void *code = mmap(NULL, sizeof jump_to_itself, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        memcpy(code, jump_to_itself, sizeof jump_to_itself);
        ((void (*)(void)) code)();
        return 1;
}
