/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "libstart/base/printable.h"
#include "libstart/ctl/table.h"

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

static const char *heading(const Table *table, guint column) {
        const char *name = table->columns[column];

        return *name == '#' ? name + 1 : name;
}

/* As they are shown. */
static char **make_cells(const Table *table) {
        char **cells = g_new0(char *, table->values->len + 1);

        for (guint i = 0; i < table->values->len; i++)
                cells[i] = printable(table->values->pdata[i] ?: "-");
        return cells;
}

static guint find_width(const Table *table, char *const *cells, guint column) {
        glong width = g_utf8_strlen(heading(table, column), -1);

        for (guint i = column; i < table->values->len; i += table->n_columns)
                width = MAX(width, g_utf8_strlen(cells[i], -1));
        return (guint) width;
}

static void append_row(const Table *table, GString *text, const guint *widths, const char *const *cells) {
        for (guint i = 0; i < table->n_columns; i++) {
                guint padding = i + 1 == table->n_columns ? 0 : widths[i] + 2 - (guint) g_utf8_strlen(cells[i], -1);

                g_string_append_printf(text, "%s%*s", cells[i], (int) padding, "");
        }
        g_string_append_c(text, '\n');
}

char *table_format(const Table *table, bool bold) {
        GString *text = g_string_new(bold ? "\033[1m" : NULL);
        g_autofree guint *widths = g_new(guint, table->n_columns);
        g_autofree const char **headings = g_new(const char *, table->n_columns);
        g_auto(GStrv) cells = make_cells(table);

        for (guint i = 0; i < table->n_columns; i++) {
                widths[i] = find_width(table, cells, i);
                headings[i] = heading(table, i);
        }
        append_row(table, text, widths, headings);
        if (bold)
                g_string_append(text, "\033[0m");
        for (guint row = 0; row < table->values->len; row += table->n_columns)
                append_row(table, text, widths, (const char *const *) cells + row);
        return g_string_free(text, FALSE);
}

static void add_text(yajl_gen json, const char *text) {
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        yajl_gen_string(json, (const unsigned char *) valid, strlen(valid));
}

static void add_value(yajl_gen json, const char *value, bool is_number) {
        if (!value)
                yajl_gen_null(json);
        else if (is_number)
                yajl_gen_number(json, value, strlen(value));
        else
                add_text(json, value);
}

char *table_format_json(const Table *table) {
        yajl_gen json = yajl_gen_alloc(NULL);
        const unsigned char *buffer;
        g_autofree char *text = NULL;
        char *shown;
        size_t length;

        yajl_gen_config(json, yajl_gen_beautify, 1);
        yajl_gen_array_open(json);
        for (guint row = 0; row < table->values->len; row += table->n_columns) {
                yajl_gen_map_open(json);
                for (guint i = 0; i < table->n_columns; i++) {
                        g_autofree char *key = g_ascii_strdown(heading(table, i), -1);

                        add_text(json, key);
                        add_value(json, table->values->pdata[row + i], table->columns[i][0] == '#');
                }
                yajl_gen_map_close(json);
        }
        yajl_gen_array_close(json);
        yajl_gen_get_buf(json, &buffer, &length);
        text = g_strndup((const char *) buffer, length);
        yajl_gen_free(json);
        shown = printable_json(text);
        return shown;
}

void table_print(const Table *table, bool json) {
        bool bold = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
        g_autofree char *text = json ? table_format_json(table) : table_format(table, bold);

        fputs(text, stdout);
}
