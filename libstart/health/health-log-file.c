/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/resolve.h"
#include "libstart/health/health-log-file.h"

static int open_directory(const HealthPlan *plan, GError **error) {
        int fd = resolve_open(AT_FDCWD, plan->log_directory, O_RDONLY | O_DIRECTORY, 0, RESOLVE_NO_SYMLINKS);

        if (fd < 0 && errno == ELOOP)
                error_set(error, KT_ERROR_FAILED,
                          "--health-log-destination: '%s' has a symbolic link in it: write the path without",
                          plan->log_directory);
        else if (fd < 0)
                error_set_errno(error, errno, "--health-log-destination: Cannot open the directory '%s'",
                                plan->log_directory);
        return fd;
}

bool health_log_file_check(const HealthPlan *plan, GError **error) {
        _cleanup_close_ int fd = plan->log_directory ? open_directory(plan, error) : -1;

        return !plan->log_directory || fd >= 0;
}

bool health_log_file_write(const HealthPlan *plan, const HealthRecord *record, GError **error) {
        g_autofree char *text = health_record_print(record),
                        *name = g_strconcat(plan->name, "-healthcheck.log", NULL);
        g_autofree char *temporary = g_strconcat(".", name, ".new", NULL);
        _cleanup_close_ int directory = open_directory(plan, error), fd = -1;

        if (directory < 0)
                return false;
        (void) unlinkat(directory, temporary, 0);
        fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 && fd_write_all(fd, text, strlen(text)) && renameat(directory, temporary, directory, name) == 0)
                return true;
        error_set_errno(error, errno, "Cannot write '%s/%s'", plan->log_directory, name);
        (void) unlinkat(directory, temporary, 0);
        return false;
}
