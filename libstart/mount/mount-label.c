/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/mount.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "libstart/mount/mount-label.h"

bool mount_label_configure(const MountLabel *label, int context) {
        return !label->text ||
               syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, label->option, label->text, 0) == 0;
}

/* In quotes, as the level has a comma. */
void mount_label_append(const MountLabel *label, GString *options) {
        if (label->text)
                g_string_append_printf(options, "%s%s=\"%s\"", options->len > 0 ? "," : "", label->option,
                                       label->text);
}

void mount_label_set(const MountLabel *label, int fd) {
        if (label->text)
                (void) !fsetxattr(fd, "security.selinux", label->text, strlen(label->text), 0);
}
