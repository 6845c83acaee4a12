/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/network/netavark-json.h"
#include "tests/fuzz/fuzz.h"

/* A setup, and what netavark says of it: each line is of one of the four kinds, and nothing in it that is not
 * printed. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_auto(GStrv) parts = fuzz_parts(data, size, 2), lines = NULL;
        g_autoptr(SetupSummary) setup = netavark_parse_setup(parts[0], strlen(parts[0]), NULL);
        g_autofree char *names = NULL;
        g_autoptr(GError) error = NULL;

        if (!setup)
                return 0;
        /* Ours: they were checked when they were written. */
        g_free(setup->container_name);
        g_free(setup->hostname);
        setup->container_name = g_strdup("me");
        setup->hostname = g_strdup("");
        names = netavark_format_names(parts[1], strlen(parts[1]), setup, &error);
        require_error(names, error, parts[1]);
        lines = g_strsplit(names ?: "", "\n", -1);
        for (char **line = lines; *line && **line; line++)
                require((g_str_has_prefix(*line, "host ") && g_str_has_suffix(*line, " me")) ||
                                g_str_has_prefix(*line, "nameserver ") || g_str_has_prefix(*line, "search ") ||
                                g_str_has_prefix(*line, "gateway "),
                        "the line '%s'", *line);
        return 0;
}
