/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/cdi/cdi-file.h"
#include "tests/fuzz/fuzz.h"

static void check_edits(const CdiEdits *edits) {
        for (guint i = 0; i < edits->nodes->len; i++) {
                const CdiNode *node = edits->nodes->pdata[i];

                require(node->path[0] == '/', "the node '%s'", node->path);
                require(node->access[0] && !node->access[strspn(node->access, "rwm")], "access '%s'", node->access);
                require(node->major >= CDI_NOT_SAID && node->minor >= CDI_NOT_SAID, "a number below zero");
        }
        for (guint i = 0; i < edits->mounts->len; i++)
                require(((const CdiMount *) edits->mounts->pdata[i])->host_path[0] == '/', "a relative mount");
        for (guint i = 0; i < edits->hooks->len; i++)
                require(((const CdiHook *) edits->hooks->pdata[i])->program[0] == '/', "a relative hook");
        for (guint i = 0; i < edits->gids->len; i++)
                require(g_array_index(edits->gids, guint32, i) != 0, "the group of root");
}

/* Programs and paths are absolute, and nobody gets root's group. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(CdiFile) file = cdi_file_parse(text, strlen(text), &error);

        require_error(file, error, text);
        for (guint i = 0; file && i < file->devices->len; i++)
                check_edits(((const CdiDevice *) file->devices->pdata[i])->edits);
        if (file)
                check_edits(file->edits);
        return 0;
}
