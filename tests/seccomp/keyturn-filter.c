/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * keyturn-filter PROFILE CAPABILITIES [ARCHITECTURE] > FILTER.bpf
 *
 * The filter that keyturn makes of a profile for a bounding set ("CAP_CHOWN,CAP_KILL", "all", or a number
 * beginning with 0x), and for this machine or another architecture (SCMP_ARCH_...).
 */
#include <stdio.h>
#include <stdlib.h>

#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/names.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/value/capability.h"

int main(int argc, char **argv) {
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = NULL;
        g_autoptr(GBytes) filter = NULL;
        guint64 caps = 0;
        SeccompTarget target;

        if (argc != 3 && argc != 4) {
                fprintf(stderr, "usage: keyturn-filter PROFILE CAPABILITIES [ARCHITECTURE] > FILTER.bpf\n");
                return EXIT_FAILURE;
        }
        if (g_str_has_prefix(argv[2], "0x"))
                caps = g_ascii_strtoull(argv[2], NULL, 16);
        else if (argv[2][0] && !capability_add(argv[2], &caps, &error))
                goto failed;
        target = seccomp_target_here(caps);
        if (argc == 4 && !seccomp_arch_parse(argv[3], &target.arch, &error))
                goto failed;
        profile = seccomp_profile_load("", argv[1], &error);
        if (!profile || !(filter = seccomp_filter_compile(profile, &target, &error)))
                goto failed;
        fwrite(g_bytes_get_data(filter, NULL), 1, g_bytes_get_size(filter), stdout);
        return EXIT_SUCCESS;

failed:
        fprintf(stderr, "%s\n", error->message);
        return EXIT_FAILURE;
}
