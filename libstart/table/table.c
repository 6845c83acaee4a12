/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "libstart/base/printable.h"
#include "libstart/table/table.h"

struct Table {
        const char *const *columns;
        guint n_columns;
        GPtrArray *values; /* row by row */
};

Table *table_new(const char *const *columns) {
        Table *table = g_new0(Table, 1);

        table->columns = columns;
        table->n_columns = g_strv_length((char **) columns);
        table->values = g_ptr_array_new_with_free_func(g_free);
        return table;
}

void table_free(Table *table) {
        g_ptr_array_unref(table->values);
        g_free(table);
}

void table_add(Table *table, ...) {
        va_list values;

        va_start(values, table);
        for (guint i = 0; i < table->n_columns; i++)
                g_ptr_array_add(table->values, va_arg(values, char *));
        va_end(values);
}

char *table_join(char *const *words, gsize n) {
        GString *text;

        if (n == 0)
                return NULL;
        text = g_string_new(NULL);
        for (gsize i = 0; i < n; i++) {
                g_autofree char *escaped = g_strescape(words[i], NULL);

                g_string_append_printf(text, "%s%s", i > 0 ? "\n" : "", escaped);
        }
        return g_string_free(text, FALSE);
}

/* What table_join() was given. */
static char **split(const char *value) {
        g_auto(GStrv) escaped = g_strsplit(value, "\n", -1);
        guint n = g_strv_length(escaped);
        char **words = g_new0(char *, n + 1);

        for (guint i = 0; i < n; i++)
                words[i] = g_strcompress(escaped[i]);
        return words;
}

static char kind(const Table *table, guint column) {
        char first = table->columns[column][0];

        if (strchr("#%~@", first))
                return first;
        return '\0';
}

static const char *heading(const Table *table, guint column) {
        return table->columns[column] + (kind(table, column) ? 1 : 0);
}

static char *show_size(const char *value) {
        static const char units[] = "BKMGTPE";
        double size = g_ascii_strtod(value, NULL);
        gsize unit = 0;

        for (; size >= 1024 && units[unit + 1]; unit++)
                size /= 1024;
        return g_strdup_printf(unit > 0 && size < 10 ? "%.1f%c" : "%.0f%c", size, units[unit]);
}

/* Of what is larger than one there are at least two: "10 days" says more than "1 week". */
char *table_show_age(gint64 seconds) {
        static const struct {
                gint64 seconds;
                const char *name;
        } units[] = { { 31557600, "year" }, { 2629800, "month" }, { 604800, "week" }, { 86400, "day" },
                      { 3600, "hour" },     { 60, "minute" },     { 1, "second" } };

        for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
                gint64 n = seconds / units[i].seconds;

                if (seconds >= 0 && (n >= 2 || units[i].seconds == 1))
                        return g_strdup_printf("%" G_GINT64_FORMAT " %s%s ago", n, units[i].name, n == 1 ? "" : "s");
        }
        return g_strdup("in the future");
}

char *table_format_since(guint64 usec) {
        g_autoptr(GDateTime) time = usec ? g_date_time_new_from_unix_local((gint64) (usec / G_USEC_PER_SEC)) : NULL;

        return time ? g_date_time_format(time, "%F %T") : NULL;
}

static char *show_time(const char *value) {
        g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(value, NULL);

        return time ? table_show_age(g_get_real_time() / G_USEC_PER_SEC - g_date_time_to_unix(time)) :
                      g_strdup(value);
}

/* As it is shown. */
static char *make_cell(const Table *table, guint i) {
        const char *value = table->values->pdata[i];
        char is = kind(table, i % table->n_columns);
        g_autofree char *shown = NULL;

        if (value && is == '%')
                shown = show_size(value);
        else if (value && is == '~')
                shown = show_time(value);
        else if (value && is == '@') {
                g_auto(GStrv) words = split(value);

                shown = g_strjoinv(" ", words);
        }
        return printable(shown ?: value ?: "-");
}

static char **make_cells(const Table *table) {
        char **cells = g_new0(char *, table->values->len + 1);

        for (guint i = 0; i < table->values->len; i++)
                cells[i] = make_cell(table, i);
        return cells;
}

static guint find_width(const Table *table, char *const *cells, guint column) {
        glong width = g_utf8_strlen(heading(table, column), -1);

        for (guint i = column; i < table->values->len; i += table->n_columns)
                width = MAX(width, g_utf8_strlen(cells[i], -1));
        return (guint) width;
}

static void append_row(GString *text, guint n, const guint *widths, const char *const *cells) {
        for (guint i = 0; i < n; i++) {
                guint padding = i + 1 == n ? 0 : widths[i] + 2 - (guint) g_utf8_strlen(cells[i], -1);

                g_string_append_printf(text, "%s%*s", cells[i], (int) padding, "");
        }
        g_string_append_c(text, '\n');
}

/* How many of the columns fit, at least the first. */
static guint find_shown(const Table *table, const guint *widths, guint width) {
        guint n = 0;

        for (guint used = 0; n < table->n_columns; n++) {
                used += widths[n] + (n > 0 ? 2 : 0);
                if (width > 0 && n > 0 && used > width)
                        break;
        }
        return n;
}

char *table_format(const Table *table, bool bold, guint width) {
        GString *text = g_string_new(bold ? "\033[1m" : NULL);
        g_autofree guint *widths = g_new(guint, table->n_columns);
        g_autofree const char **headings = g_new(const char *, table->n_columns);
        g_auto(GStrv) cells = make_cells(table);
        guint n;

        for (guint i = 0; i < table->n_columns; i++) {
                widths[i] = find_width(table, cells, i);
                headings[i] = heading(table, i);
        }
        n = find_shown(table, widths, width);
        append_row(text, n, widths, headings);
        if (bold)
                g_string_append(text, "\033[0m");
        for (guint row = 0; row < table->values->len; row += table->n_columns)
                append_row(text, n, widths, (const char *const *) cells + row);
        return g_string_free(text, FALSE);
}

char *table_format_long(const Table *table) {
        GString *text = g_string_new(NULL);
        g_auto(GStrv) cells = make_cells(table);
        gsize width = 0;

        for (guint i = 0; i < table->n_columns; i++)
                width = MAX(width, strlen(heading(table, i)));
        for (guint i = 0; i < table->values->len; i++)
                g_string_append_printf(text, "%*s: %s\n", (int) width, heading(table, i % table->n_columns),
                                       cells[i]);
        return g_string_free(text, FALSE);
}

static void add_text(yajl_gen json, const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        yajl_gen_string(json, (const unsigned char *) valid, strlen(valid));
}

static void add_list(yajl_gen json, const char *value) {
        g_auto(GStrv) words = split(value);

        yajl_gen_array_open(json);
        for (char **word = words; *word; word++)
                add_text(json, *word);
        yajl_gen_array_close(json);
}

static void add_value(yajl_gen json, const char *value, char is) {
        if (!value)
                yajl_gen_null(json);
        else if (is == '#' || is == '%')
                yajl_gen_number(json, value, strlen(value));
        else if (is == '@')
                add_list(json, value);
        else
                add_text(json, value);
}

char *table_format_json(const Table *table) {
        yajl_gen json = yajl_gen_alloc(NULL);
        const unsigned char *buffer;
        g_autofree char *text = NULL;
        size_t length;

        yajl_gen_config(json, yajl_gen_beautify, 1);
        yajl_gen_array_open(json);
        for (guint row = 0; row < table->values->len; row += table->n_columns) {
                yajl_gen_map_open(json);
                for (guint i = 0; i < table->n_columns; i++) {
                        g_autofree char *key = g_ascii_strdown(heading(table, i), -1);

                        add_text(json, g_strdelimit(key, "-", '_'));
                        add_value(json, table->values->pdata[row + i], kind(table, i));
                }
                yajl_gen_map_close(json);
        }
        yajl_gen_array_close(json);
        yajl_gen_get_buf(json, &buffer, &length);
        text = g_strndup((const char *) buffer, length);
        yajl_gen_free(json);
        return printable_json(text);
}

void table_print(const Table *table, bool json) {
        bool bold = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
        struct winsize size = { 0 };
        g_autofree char *text = NULL;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
                size.ws_col = 0;
        text = json ? table_format_json(table) : table_format(table, bold, size.ws_col);

        fputs(text, stdout);
}

void table_print_long(const Table *table, bool json) {
        g_autofree char *text = json ? table_format_json(table) : table_format_long(table);

        fputs(text, stdout);
}
