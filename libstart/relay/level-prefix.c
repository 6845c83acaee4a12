/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/relay/level-prefix.h"

/* journald takes one to three digits. "<00>" is an emergency, too. */
#define DIGITS_MAX 3

/* A line so long that journald may break it anywhere: nobody sets LineMax= (48K) as low as this, and hardly anybody
 * has the text "<0>" beyond. */
#define COLUMN_MAX 1024

/* Where one level was lowered there is none in the rest. An open end of the data counts as the ">" that may follow.
 */
static void lower_digits(char *digits, const char *end, guint max) {
        char *p = digits;

        while (p < end && *p == '0' && p - digits < (gssize) max)
                p++;
        if (p > digits && (p == end || *p == '>'))
                p[-1] = '1';
}

/* "<" and perhaps zeros are out already. */
static void lower_begun(guint begun, char *data, const char *end) {
        if (begun > 1 && data < end && *data == '>')
                *data = ')'; /* the zeros cannot be changed any more */
        else if (begun > 0 && begun <= DIGITS_MAX)
                lower_digits(data, end, DIGITS_MAX + 1 - begun);
}

static bool is_break(char c) {
        return c == '\n' || c == '\0';
}

void level_prefix_lower(const LevelPrefix *prefix, char *data, gsize size) {
        const char *end = data + size, *seen = data;
        gsize column = prefix->column;

        lower_begun(prefix->begun, data, end);
        for (char *p = memchr(data, '<', size); p; p = memchr(p + 1, '<', (gsize) (end - p - 1))) {
                if (p + 1 == end || p[1] != '0')
                        continue;
                for (; seen < p; seen++)
                        column = is_break(*seen) ? 0 : column + 1;
                if (p == data || column == 0 || column >= COLUMN_MAX)
                        lower_digits(p + 1, end, DIGITS_MAX);
        }
}

/* How many of the last bytes, with those before that are sent already, may be the begin of a prefix. */
static guint begun_at_end(const LevelPrefix *prefix, const char *data, gsize size) {
        gsize zeros = 0;

        while (zeros < size && zeros < DIGITS_MAX && data[size - 1 - zeros] == '0')
                zeros++;
        if (zeros == size) {
                bool goes_on = prefix->begun > 0 && prefix->begun + zeros <= DIGITS_MAX + 1;

                return goes_on ? prefix->begun + (guint) zeros : 0;
        }
        return data[size - 1 - zeros] == '<' ? (guint) zeros + 1 : 0;
}

static gsize column_at_end(const LevelPrefix *prefix, const char *data, gsize size) {
        gsize column = 0;

        while (column < size && !is_break(data[size - 1 - column]))
                column++;
        return column < size ? column : prefix->column + size;
}

void level_prefix_sent(LevelPrefix *prefix, const char *data, gsize size) {
        if (size == 0)
                return;
        prefix->column = column_at_end(prefix, data, size);
        prefix->begun = begun_at_end(prefix, data, size);
}
