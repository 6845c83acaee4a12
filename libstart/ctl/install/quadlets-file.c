/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/ctl/install/quadlets-file.h"
#include "libstart/value/names.h"

#define NAME_COMMENT "# FileName="

static const struct {
        const char *header, *suffix;
} kinds[] = {
        { "[Container]", ".container" }, { "[Pod]", ".pod" },           { "[Network]", ".network" },
        { "[Volume]", ".volume" },       { "[Image]", ".image" },       { "[Build]", ".build" },
        { "[Kube]", ".kube" },           { "[Artifact]", ".artifact" },
};

bool quadlet_is_file_name(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (g_str_has_suffix(name, kinds[i].suffix))
                        return true;
        return false;
}

static void free_file(void *data) {
        QuadletFile *file = data;

        g_free(file->name);
        g_free(file->text);
        g_free(file);
}

static const char *find_suffix(char *const *lines, guint begin, guint end) {
        for (guint i = begin; i < end; i++)
                for (size_t kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
                        if (g_str_equal(lines[i], kinds[kind].header))
                                return kinds[kind].suffix;
        return NULL;
}

static const char *find_name(char *const *lines, guint begin, guint end) {
        for (guint i = begin; i < end; i++)
                if (g_str_has_prefix(lines[i], NAME_COMMENT))
                        return lines[i] + strlen(NAME_COMMENT);
        return NULL;
}

static bool is_new(const GPtrArray *files, const char *name) {
        for (guint i = 0; i < files->len; i++)
                if (g_str_equal(((const QuadletFile *) files->pdata[i])->name, name))
                        return false;
        return true;
}

/* lines[begin] up to lines[end], blanks at their ends removed; `original` as they are. */
static bool add_file(GPtrArray *files, char *const *lines, char *const *original, guint begin, guint end,
                     GError **error) {
        const char *suffix = find_suffix(lines, begin, end), *name = find_name(lines, begin, end);
        g_autofree char *full = NULL;
        QuadletFile *file;
        GString *text;

        if (!suffix)
                return error_set(error, KT_ERROR_USAGE, "line %u: no section of Quadlet's follows, as [Container]",
                                 begin + 1);
        if (!name || !name_is_made_of(name, "_.@-") || name[0] == '.')
                return error_set(error, KT_ERROR_USAGE,
                                 "line %u: a line '" NAME_COMMENT "NAME' has to follow, of a file's name", begin + 1);
        full = g_str_has_suffix(name, suffix) ? g_strdup(name) : g_strconcat(name, suffix, NULL);
        if (!is_new(files, full))
                return error_set(error, KT_ERROR_USAGE, "line %u: '%s' for the second time", begin + 1, full);
        text = g_string_new(NULL);
        for (guint i = begin; i < end; i++)
                g_string_append_printf(text, "%s\n", original[i]);
        file = g_new0(QuadletFile, 1);
        file->name = g_steal_pointer(&full);
        file->text = g_string_free(text, FALSE);
        g_ptr_array_add(files, file);
        return true;
}

GPtrArray *quadlets_file_split(const char *text, GError **error) {
        g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(free_file);
        g_auto(GStrv) original = g_strsplit(text, "\n", -1), lines = g_strdupv(original);
        guint n = g_strv_length(lines), begin = 0;
        bool is_blank = true;

        for (guint i = 0; i < n; i++)
                g_strstrip(lines[i]);
        for (guint i = 0; i <= n; i++) {
                if (i < n && !g_str_equal(lines[i], "---")) {
                        is_blank &= lines[i][0] == '\0';
                        continue;
                }
                if (!is_blank && !add_file(files, lines, original, begin, i, error))
                        return NULL;
                begin = i + 1;
                is_blank = true;
        }
        if (files->len > 0)
                return g_steal_pointer(&files);
        return error_null(error, KT_ERROR_USAGE, "nothing is in it");
}
