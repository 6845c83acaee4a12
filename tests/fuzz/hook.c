/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/hook/hook-match.h"
#include "tests/fuzz/fuzz.h"

/* A program is absolute, and a hook without a condition is for nobody. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(HookFile) file = hook_file_parse(text, strlen(text), &error);
        g_autoptr(GPtrArray) annotations = g_ptr_array_new();
        const HookTarget target = { .annotations = annotations, .command = "sh" };

        require_error(file, error, text);
        if (!file)
                return 0;
        require(file->program[0] == '/' && file->stages != 0, "the program '%s'", file->program);
        require(hook_file_match(file, &target) == HOOK_NO || file->always == HOOK_TRUE || file->commands->len > 0,
                "a hook for whoever comes");
        return 0;
}
