/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose a user namespace is, by its file. */
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/types.h>

int main(int argc, char **argv) {
        int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
        uid_t uid;

        if (fd < 0 || ioctl(fd, NS_GET_OWNER_UID, &uid) < 0)
                return 1;
        printf("%u\n", uid);
        return 0;
}
