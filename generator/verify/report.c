/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/verify/place.h"
#include "generator/verify/report.h"
#include "libstart/base/printable.h"
#include "libstart/table/table.h"

static void remark_clear(void *data) {
        Remark *remark = data;

        g_free(remark->file);
        g_free(remark->key);
        g_free(remark->message);
}

Report *report_new(const char *root) {
        Report *report = g_new0(Report, 1);

        report->remarks = g_array_new(FALSE, FALSE, sizeof(Remark));
        g_array_set_clear_func(report->remarks, remark_clear);
        report->root = g_strdup(root);
        return report;
}

void report_free(Report *report) {
        g_array_unref(report->remarks);
        g_free(report->root);
        g_free(report);
}

void report_add(Report *report, const char *file, guint line, const char *key, bool is_error, const char *rule,
                const char *message) {
        Remark remark = { .line = line, .is_error = is_error, .rule = rule };
        guint column = line > 0 ? place_take_column(&message) : 0;
        g_autofree char *path = file ? g_strconcat(report->root, file, NULL) : NULL, *text = NULL;

        remark.file = g_strdup(file);
        remark.key = g_strdup(key);
        remark.message = g_strdup(message);
        if (path && column > 0)
                remark.column = column;
        else if (path && line > 0 && g_file_get_contents(path, &text, NULL, NULL))
                remark.column = place_find(text, message, &remark.line);
        g_array_append_val(report->remarks, remark);
}

static int compare_remarks(gconstpointer a, gconstpointer b) {
        const Remark *left = a, *right = b;
        int r = g_strcmp0(left->file, right->file);

        if (r == 0) /* those of the file as a whole are last */
                r = (left->line - 1 > right->line - 1) - (left->line - 1 < right->line - 1);
        if (r == 0)
                r = (left->column > right->column) - (left->column < right->column);
        if (r == 0)
                r = right->is_error - left->is_error;
        return r == 0 ? strcmp(left->message, right->message) : r;
}

void report_sort(Report *report) {
        const Remark *remarks;

        g_array_sort(report->remarks, compare_remarks);
        for (guint i = report->remarks->len; i > 1; i--) {
                remarks = (const Remark *) (void *) report->remarks->data;
                if (compare_remarks(&remarks[i - 2], &remarks[i - 1]) == 0)
                        g_array_remove_index(report->remarks, i - 1);
        }
}

char *remark_print(const Remark *remark) {
        g_autoptr(GString) line = g_string_new(NULL);

        if (remark->file)
                g_string_append(line, remark->file);
        if (remark->file && remark->line > 0)
                g_string_append_printf(line, ":%u:%u", remark->line, remark->column);
        if (remark->file)
                g_string_append(line, ": ");
        g_string_append(line, remark->is_error ? "error: " : "warning: ");
        if (remark->key)
                g_string_append_printf(line, "'%s=': ", remark->key);
        g_string_append(line, remark->message);
        return printable(line->str);
}

static void print_remark(const Remark *remark) {
        g_autofree char *line = remark_print(remark);

        printable_print("%s\n", line);
}

static char *number(guint value) {
        return value > 0 ? g_strdup_printf("%u", value) : NULL;
}

void report_print(const Report *report, bool json) {
        static const char *const columns[] = {
                "FILE", "#LINE", "#COLUMN", "SEVERITY", "RULE", "KEY", "MESSAGE", NULL
        };
        g_autoptr(Table) table = table_new(columns);

        for (guint i = 0; i < report->remarks->len; i++) {
                const Remark *remark = &g_array_index(report->remarks, Remark, i);

                if (!json)
                        print_remark(remark);
                else
                        table_add(table, g_strdup(remark->file), number(remark->line), number(remark->column),
                                  g_strdup(remark->is_error ? "error" : "warning"), g_strdup(remark->rule),
                                  g_strdup(remark->key), g_strdup(remark->message));
        }
        if (json)
                table_print(table, true);
}

bool report_has_error(const Report *report) {
        for (guint i = 0; i < report->remarks->len; i++)
                if (g_array_index(report->remarks, Remark, i).is_error)
                        return true;
        return false;
}
