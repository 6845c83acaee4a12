/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "libstart/seccomp/filter.h"
#include "libstart/seccomp/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is read as a profile compiles, or fails with an error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        SeccompTarget target = seccomp_target_here(0xa80425fb);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse((const char *) data, size, &error);
        g_autoptr(GBytes) filter = profile ? seccomp_filter_compile_for(profile, &target, &error) : NULL;

        if ((filter == NULL) == (error == NULL))
                g_error("a filter and an error, or neither");
        return 0;
}
