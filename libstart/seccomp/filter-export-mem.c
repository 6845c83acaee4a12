/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/base/error.h"
#include "libstart/seccomp/filter-export.h"

GBytes *filter_export(scmp_filter_ctx context, GError **error) {
        size_t length = 0, room;
        int r = seccomp_export_bpf_mem(context, NULL, &length);

        if (r < 0) {
                error_set_errno(error, -r, "libseccomp cannot generate the filter");
                return NULL;
        }
        g_autofree void *bpf = g_malloc(length);
        room = length;
        r = seccomp_export_bpf_mem(context, bpf, &length);
        if (r < 0) {
                error_set_errno(error, -r, "libseccomp cannot generate the filter");
                return NULL;
        }
        return g_bytes_new_take(g_steal_pointer(&bpf), MIN(length, room));
}
