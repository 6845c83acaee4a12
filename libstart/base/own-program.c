/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/own-program.h"

/* The threat (CVE-2019-5736): code of an image runs where /proc/PID/exe is a program of the host's. It opens that
 * file, keeps the descriptor, waits until nobody executes the program, and opens /proc/self/fd/N for writing. Then it
 * decides what root runs on the host next. It gets there in two ways:
 *  - An image names /proc/self/exe, or a script with that interpreter, as its payload. The kernel takes the loader of
 *    a program that is linked dynamically from the image, and that runs before any instruction of the program.
 *  - A program enters a container where a payload waits for it (keyturnctl exec).
 *
 * What is opened by way of /proc/PID/exe belongs to the mount that the program was executed from. If that mount is
 * read-only, in no mount namespace and reached by no path, nobody can make a writable one of it, not even with all
 * capabilities. libcrun's answer is the same, but it goes without the mount where /usr is read-only. That can be
 * mounted writable later, for an update, and the payload has its descriptor still.
 *
 * To execute libstart once more costs a fifth of a start. Linked statically it has no loader, and no code of the
 * image runs in it before main(). There it needs no mount, for what keyturn is:
 *  - Every container has a pid namespace of its own, and its first process runs libstart only until it executes the
 *    payload. Nothing else is in there before that (so no hook of the stage startContainer is run), and nothing in
 *    there runs libstart after it, but
 *  - a payload that is libstart; and that is pid 1. So libstart refuses to be pid 1, before anything of the image can
 *    be read: iconv and NSS load libraries even into a static program, here from the image. So do the other programs
 *    in the same file, whose names an image may give to a link to /proc/self/exe.
 * Until it executes the payload the first process is not dumpable either (libcrun, PR_SET_DUMPABLE), so that its
 * /proc/PID/exe is closed to a debugger that entered the container.
 *
 * A program that enters a container where a payload runs is protected however it is linked, and so is libstart with
 * --pid=host, whose payload is not pid 1.
 *
 * Promise to keep elsewhere: no option of keyturn may let containers share a pid namespace without giving up this
 * shortcut. tests/booted/hostile-image attacks libstart, linked in both ways.
 *
 * Whether the program has a loader is read from the program itself: how it was configured could be wrong. */

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden"))); /* the linker's: where the file begins */

static bool has_loader(void) {
        const ElfW(Phdr) *headers = (const void *) ((const char *) &__ehdr_start + __ehdr_start.e_phoff);

        for (size_t i = 0; i < __ehdr_start.e_phnum; i++)
                if (headers[i].p_type == PT_INTERP)
                        return true;
        return false;
}

/* A mount of the file alone: none that an administrator has for other reasons, short of one of just this file. */
static bool is_protected(void) {
        _cleanup_close_ int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
        struct statx status;
        struct statvfs mounted;

        return fd >= 0 && statx(fd, "", AT_EMPTY_PATH, 0, &status) == 0 &&
               (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) && fstatvfs(fd, &mounted) == 0 &&
               (mounted.f_flag & ST_RDONLY);
}

static int clone_read_only(void) {
        struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY };
        int fd = (int) syscall(SYS_open_tree, AT_FDCWD, "/proc/self/exe", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

        if (fd >= 0 && syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH, &attributes, sizeof attributes) < 0) {
                close(fd);
                return -1;
        }
        return fd;
}

void own_program_protect(char *const argv[], bool enters) {
        _cleanup_close_ int fd = -1;

        if (!enters && !has_loader())
                return;
        if (is_protected()) {
                (void) prctl(PR_SET_NAME, program_invocation_short_name); /* it is the number of a descriptor now */
                return;
        }
        fd = clone_read_only();
        if (fd < 0 && errno == EPERM)
                return;
        if (fd >= 0)
                fexecve(fd, argv, environ);
        log_error("Cannot protect '%s' from being written by containers (CVE-2019-5736): %s", argv[0],
                  strerror(errno));
        exit(EXIT_KEYTURN);
}

/* Whether the running program was executed from where keyturn is installed, in this mount namespace. Nothing of an
 * image is in the host's mount, whatever a link of its leads to, and no mount of it is the same as that one. */
static bool is_installed_here(void) {
        static const struct open_how how = { .flags = O_PATH | O_CLOEXEC,
                                             .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
        const unsigned wanted = STATX_INO | STATX_MNT_ID;
        _cleanup_close_ int fd = open("/proc/self/exe", O_PATH | O_CLOEXEC), place = -1;
        struct statx self, there;

        place = (int) syscall(SYS_openat2, AT_FDCWD, KEYTURN_LIBDIR "/libstart", &how, sizeof how);
        return fd >= 0 && place >= 0 && statx(fd, "", AT_EMPTY_PATH, wanted, &self) == 0 &&
               statx(place, "", AT_EMPTY_PATH, wanted, &there) == 0 && (self.stx_mask & wanted) == wanted &&
               (there.stx_mask & wanted) == wanted && self.stx_ino == there.stx_ino &&
               self.stx_mnt_id == there.stx_mnt_id;
}

void own_program_refuse_container(const char *program) {
        static const char message[] = "libstart: refusing to be the payload of a container\n";

        if (getpid() != 1 || (program && is_installed_here()))
                return;
        (void) !write(STDERR_FILENO, message, sizeof message - 1);
        _exit(EXIT_KEYTURN);
}
