/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/keyctl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Session keyrings, from both sides:
 *
 *   keys plant NAME SECONDS      join the session keyring NAME, give all rights to all, print the keys that come into
 *                                it
 *   keys give SECONDS            the same with one of its own, which it gives to its parent
 *   keys put NAME DATA WORD...   put a key into a new session keyring, and execute the words
 *   keys add NAME DATA           put a key into the session keyring that there is, and stay
 *   keys get NAME                print one that is in the session keyring */

#define ALL_RIGHTS 0x3f3f3f3fU

static long add(const char *name, const char *data) {
        return syscall(SYS_add_key, "user", name, data, strlen(data), KEY_SPEC_SESSION_KEYRING);
}

static int print(long key) {
        char data[256];
        long n = syscall(SYS_keyctl, KEYCTL_READ, key, data, sizeof data - 1);

        if (n < 0)
                return 1;
        data[n] = '\0';
        puts(data);
        fflush(stdout);
        return 0;
}

static int plant(const char *name, int seconds) {
        long keyring = syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, name);
        int32_t keys[64];

        if (keyring < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, keyring, ALL_RIGHTS) < 0)
                return 1;
        puts("planted");
        fflush(stdout);
        for (int i = 0; i < seconds * 10; i++) {
                if (!name) /* it may have another parent by now */
                        (void) syscall(SYS_keyctl, KEYCTL_SESSION_TO_PARENT);
                long n = syscall(SYS_keyctl, KEYCTL_READ, keyring, keys, sizeof keys);

                for (long j = 0; j < n / (long) sizeof *keys; j++)
                        print(keys[j]);
                usleep(100000);
        }
        return 0;
}

int main(int argc, char **argv) {
        const char *what = argc > 2 ? argv[1] : "";

        if (strcmp(what, "plant") == 0 && argc == 4)
                return plant(argv[2], atoi(argv[3]));
        if (strcmp(what, "give") == 0)
                return plant(NULL, atoi(argv[2]));
        if (strcmp(what, "get") == 0)
                return print(syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", argv[2], 0));
        if (strcmp(what, "add") == 0 && argc == 4) {
                if (add(argv[2], argv[3]) < 0)
                        return 1;
                puts("added");
                fflush(stdout);
                pause();
        }
        if (strcmp(what, "put") == 0 && argc > 4 && syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0 &&
            add(argv[2], argv[3]) >= 0)
                execvp(argv[4], argv + 4);
        return 2;
}
