/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/printable.h"
#include "libstart/json/emit.h"
#include "libstart/kube/output.h"

static const YamlNode *top_of(const YamlNode *node) {
        while (node->parent)
                node = node->parent;
        return node;
}

void kube_say(Kube *kube, char kind, const YamlNode *node, const char *format, ...) {
        g_autofree char *path = yaml_node_path(node), *text = NULL, *clean = NULL;
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        text = g_strdup_printf("%s%s%s", path, path[0] ? ": " : "", message);
        clean = printable(text);
        g_string_append_printf(kube->output, "P %s\n%c %u:%u: %s\n",
                               (char *) g_hash_table_lookup(kube->paths, top_of(node)), kind, node->line,
                               node->column, clean);
        kube->failed |= kind == KUBE_ERROR;
}

void kube_error_text(Kube *kube, const char *path, const char *text) {
        g_autofree char *clean = printable(text);

        g_string_append_printf(kube->output, "P %s\nE %s%s\n", path, g_ascii_isdigit(clean[0]) ? "" : "0:0: ", clean);
        kube->failed = true;
}

void kube_file_begin(KubeFile *file, Kube *kube, char *name, const char *section, const YamlNode *node) {
        *file = (KubeFile) {
                .kube = kube, .name = name, .section = section, .node = node, .text = g_string_new(NULL)
        };
        if (!g_hash_table_add(kube->written, g_strdup(name)))
                kube_error(kube, node, "there is another one that would become '%s': rename one of the two", name);
}

void kube_section(KubeFile *file, const char *section) {
        file->section = section;
        file->is_begun = false;
}

void kube_file_end(KubeFile *file) {
        g_string_append_printf(file->kube->output, "F %s\n%s", file->name, file->text->str);
        g_string_free(file->text, TRUE);
        g_free(file->name);
        *file = (KubeFile) { 0 };
}

static void put_line(KubeFile *file, const char *path, unsigned number, const char *line) {
        if (g_strcmp0(file->path, path) != 0)
                g_string_append_printf(file->text, "P %s\n", path);
        file->path = path;
        if (!file->is_begun)
                g_string_append_printf(file->text, "L %u [%s]\n", number, file->section);
        file->is_begun = true;
        g_string_append_printf(file->text, "L %u %s\n", number, line);
}

static bool has_control(const char *text) {
        for (; *text; text++)
                if (g_ascii_iscntrl(*text))
                        return true;
        return false;
}

static void put_value(KubeFile *file, const YamlNode *node, const char *key, const char *value) {
        const YamlNode *place = node ?: file->node;
        g_autofree char *line = g_strdup_printf("%s=%s", key, value);
        size_t length = strlen(value);

        if (length == 0) /* would take back what is before it: DropCapability=ALL, for one */
                kube_error(file->kube, place, "is empty: write a value, or remove it");
        else if (has_control(value) || (length > 0 && (value[length - 1] == '\\' || g_ascii_isspace(value[0]) ||
                                                       g_ascii_isspace(value[length - 1]))))
                kube_error(file->kube, place,
                           "blanks around it, line breaks and a backslash at the end are not possible here");
        else
                put_line(file, g_hash_table_lookup(file->kube->paths, top_of(place)), place->line, line);
}

/* What systemd expands stands for itself. */
static void append_unexpanded(GString *text, char c) {
        if (c == '%' || c == '$')
                g_string_append_c(text, c);
        g_string_append_c(text, c);
}

void kube_line(KubeFile *file, const YamlNode *node, const char *key, const char *format, ...) {
        g_autoptr(GString) value = g_string_new(NULL);
        g_autofree char *given = NULL;
        va_list ap;

        va_start(ap, format);
        given = g_strdup_vprintf(format, ap);
        va_end(ap);
        for (const char *c = given; *c; c++)
                append_unexpanded(value, *c);
        put_value(file, node, key, value->str);
}

static void append_word(GString *line, const char *word) {
        g_string_append(line, line->len > 0 ? " \"" : "\"");
        for (const char *c = word; *c; c++)
                if (*c == '\n')
                        g_string_append(line, "\\n");
                else if (g_ascii_iscntrl(*c))
                        g_string_append_printf(line, "\\x%02x", (unsigned char) *c);
                else {
                        if (*c == '"' || *c == '\\')
                                g_string_append_c(line, '\\');
                        append_unexpanded(line, *c);
                }
        g_string_append_c(line, '"');
}

void kube_line_word(KubeFile *file, const YamlNode *node, const char *key, const char *word) {
        g_autoptr(GString) line = g_string_new(NULL);

        append_word(line, word);
        put_value(file, node, key, line->str);
}

void kube_line_words(KubeFile *file, const YamlNode *node, const char *key, const GPtrArray *words) {
        g_autoptr(GString) line = g_string_new(NULL);

        for (guint i = 0; i < words->len; i++)
                append_word(line, words->pdata[i]);
        put_value(file, node, key, line->str);
}

void kube_line_json(KubeFile *file, const YamlNode *node, const char *key, const GPtrArray *words) {
        yajl_gen gen = json_emit_new(false);
        g_autofree char *json = NULL;

        yajl_gen_array_open(gen);
        for (guint i = 0; i < words->len; i++)
                json_emit_string(gen, words->pdata[i]);
        yajl_gen_array_close(gen);
        json = json_emit_finish(gen);
        kube_line(file, node, key, "%s", g_strchomp(json));
}

void kube_extra(KubeFile *file, unsigned number, const char *text) {
        put_line(file, file->kube->path, number, text);
}

void kube_extras(KubeFile *file, const GArray *extras) {
        for (guint i = 0; i < extras->len; i++) {
                const KubeExtra *extra = &g_array_index(extras, KubeExtra, i);

                kube_extra(file, extra->number, extra->text);
        }
}
