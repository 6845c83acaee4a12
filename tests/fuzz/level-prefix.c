/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/relay/level-prefix.h"
#include "tests/fuzz/fuzz.h"

static bool is_emergency(const GString *text, gsize at) {
        gsize digits = 0;

        if (at >= text->len || text->str[at] != '<')
                return false;
        while (digits < 3 && text->str[at + 1 + digits] == '0')
                digits++;
        return digits > 0 && text->str[at + 1 + digits] == '>';
}

/* Wherever journald may begin a line: after a newline or NUL, and where a piece that was sent begins. */
static void check(const GString *sent, const GArray *begins) {
        for (guint i = 0; i < begins->len; i++)
                require(!is_emergency(sent, g_array_index(begins, gsize, i)),
                        "an emergency at the begin of a piece, %zu", g_array_index(begins, gsize, i));
        for (gsize i = 0; i < sent->len; i++)
                if (i == 0 || sent->str[i - 1] == '\n' || sent->str[i - 1] == '\0')
                        require(!is_emergency(sent, i), "an emergency at the begin of a line, %zu", i);
}

static void check_change(char before, char after) {
        require(before == after || (before == '0' && after == '1') || (before == '>' && after == ')'),
                "'%c' became '%c'", before, after);
}

/* The first bytes say how much is taken at once, and how much of that is sent. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autoptr(GString) sent = g_string_new(NULL);
        g_autoptr(GArray) begins = g_array_new(FALSE, FALSE, sizeof(gsize));
        LevelPrefix prefix = LEVEL_PREFIX_UNKNOWN;
        gsize taken, step;

        if (size < 2)
                return 0;
        taken = 1 + data[0] % 32;
        step = 1 + data[1] % taken;
        for (gsize at = 2; at < size; at += step) {
                gsize n = MIN(taken, size - at), begin = sent->len;
                g_autofree char *piece = g_memdup2(data + at, n);

                level_prefix_lower(&prefix, piece, n);
                step = MIN(step, n);
                for (gsize i = 0; i < n; i++)
                        check_change((char) data[at + i], piece[i]);
                g_array_append_val(begins, begin);
                g_string_append_len(sent, piece, (gssize) step);
                level_prefix_sent(&prefix, piece, step);
        }
        check(sent, begins);
        return 0;
}
