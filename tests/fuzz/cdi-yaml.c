/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/cdi-yaml/cdi-yaml.h"
#include "libstart/cdi/cdi-file.h"
#include "libstart/json/walk.h"
#include "tests/fuzz/fuzz.h"

/* What comes out is JSON. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL, problem = NULL;
        g_autofree char *json = cdi_yaml_to_json(text, strlen(text), &error);
        g_autoptr(CdiFile) file = NULL;
        yajl_val tree;

        require_error(json, error, text);
        if (!json)
                return 0;
        tree = json_parse(json, strlen(json), 32, &problem);
        require(tree || strstr(problem->message, "surrogate") || strstr(problem->message, "twice"), "no JSON: %s: %s",
                json, problem->message);
        yajl_tree_free(tree);
        file = cdi_file_parse(json, strlen(json), NULL);
        return 0;
}
