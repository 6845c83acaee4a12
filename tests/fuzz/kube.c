/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/kube/convert.h"
#include "tests/fuzz/fuzz.h"

/* Where a file is wrong, something is said; what is written to a directory stays in it; and no line is none that the
 * generator knows. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(Kube) kube = kube_new();
        g_auto(GStrv) lines = NULL;
        bool said = false;

        kube->stem = "app";
        kube->path = "/app.kube";
        kube_add(kube, "/app.yaml", text, strlen(text), false);
        kube_convert(kube);
        lines = g_strsplit(kube->output->str, "\n", -1);
        for (char **line = lines; *line; line++) {
                require(!(*line)[0] || (strchr("FLPEW", (*line)[0]) && (*line)[1] == ' '), "a line: %s", *line);
                said = said || (*line)[0] == 'E';
        }
        require(said == kube->failed, "failed, and nothing is said: %s", kube->output->str);
        for (guint i = 0; i < kube->data->len; i++) {
                const KubeData *one = kube->data->pdata[i];

                require(one->path[0] != '/' && !strstr(one->path, "/../") && !g_str_has_suffix(one->path, "/.."),
                        "outside: %s", one->path);
        }
        return 0;
}
