/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The words of podman's command line for true and false. Returns false for any other. */
static inline bool flag_word_parse(const char *word, bool *ret) {
        static const char *const words[][7] = {
                { "0", "f", "F", "FALSE", "false", "False", NULL },
                { "1", "t", "T", "TRUE", "true", "True", NULL },
        };

        *ret = g_strv_contains(words[true], word);
        return *ret || g_strv_contains(words[false], word);
}
