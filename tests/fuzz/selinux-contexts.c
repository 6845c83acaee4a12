/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/oci/selinux-label.h"
#include "tests/fuzz/fuzz.h"

/* Whatever the policy's file says: a label has the level that was asked for, or there is none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autofree char *process = selinux_contexts_find(text, "process"),
                        *file = selinux_contexts_find(text, "file");
        const LabelRequest request = { 0 };
        g_auto(SelinuxLabels) labels = { 0 };
        g_autoptr(GError) error = NULL;

        require(!process || !strchr(process, '\n'), "more than a line");
        if (!process || !file)
                return 0;
        bool ok = selinux_labels_make(&request, process, file, "s0:c1,c2", &labels, &error);
        require_error(ok, error, "");
        require(!ok || (g_str_has_suffix(labels.process, ":s0:c1,c2") && g_str_has_suffix(labels.file, ":s0:c1,c2")),
                "another level");
        return 0;
}
