/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/seccomp/filter-export.h"

static bool read_back(int fd, char *buffer, size_t length, GError **error) {
        for (size_t done = 0; done < length;) {
                ssize_t n = pread(fd, buffer + done, length - done, (off_t) done);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return error_set_errno(error, n < 0 ? errno : EIO, "cannot read the filter back");
                done += (size_t) n;
        }
        return true;
}

GBytes *filter_export(scmp_filter_ctx context, GError **error) {
        _cleanup_close_ int fd = memfd_create("seccomp.bpf", MFD_CLOEXEC);
        struct stat st;

        if (fd < 0) {
                error_set_errno(error, errno, "cannot make a file in memory for the filter");
                return NULL;
        }
        int r = seccomp_export_bpf(context, fd);
        if (r < 0) {
                error_set_errno(error, -r, "libseccomp cannot generate the filter");
                return NULL;
        }
        if (fstat(fd, &st) < 0) {
                error_set_errno(error, errno, "cannot ask for the filter's size");
                return NULL;
        }
        g_autofree char *bpf = g_malloc((gsize) st.st_size);
        if (!read_back(fd, bpf, (size_t) st.st_size, error))
                return NULL;
        return g_bytes_new_take(g_steal_pointer(&bpf), (gsize) st.st_size);
}
