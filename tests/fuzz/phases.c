/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/analyze/phases.h"
#include "tests/fuzz/fuzz.h"

/* What libstart left of a start can be shown, whatever the numbers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        GArray *phases = phases_parse(text);

        if (!phases)
                return 0;
        require(phases->len > 0, "no phases");
        g_autofree char *bars = phases_format("title", phases, 40);
        const PlotRow row = { "a <title>", phases, 0, 0, 0 };
        g_autofree char *svg = phases_format_svg(&row, 1);
        g_array_unref(phases);
        return 0;
}
