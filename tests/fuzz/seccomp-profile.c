/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/profile.h"
#include "tests/fuzz/fuzz.h"

/* Whatever is read as a profile compiles, or fails with an error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        SeccompTarget target = seccomp_target_here(0xa80425fb);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompProfile) profile = seccomp_profile_parse((const char *) data, size, &error);
        g_autoptr(GBytes) filter = profile ? seccomp_filter_compile(profile, &target, &error) : NULL;

        require_error(filter, error, text);
        return 0;
}
