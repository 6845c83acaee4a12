/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/unit/conversion.h"

static void finding_free(void *data) {
        Finding *finding = data;

        g_free(finding->text);
        g_free(finding);
}

static void source_clear(void *data) {
        g_free(((MountSource *) data)->path);
}

static void noted_clear(void *data) {
        g_free(((Noted *) data)->text);
}

static GArray *new_notes(void) {
        GArray *notes = g_array_new(FALSE, FALSE, sizeof(Noted));

        g_array_set_clear_func(notes, noted_clear);
        return notes;
}

void noted_add(GArray *notes, const char *text, const UnitLine *line) {
        Noted noted = { g_strdup(text), line };

        g_array_append_val(notes, noted);
}

Conversion *conversion_new(const SourceFile *source, char *service_name, const UnitNames *names) {
        Conversion *conversion = g_new0(Conversion, 1);

        conversion->source = source;
        conversion->names = names;
        conversion->section = "Container";
        conversion->findings = g_ptr_array_new_with_free_func(finding_free);
        conversion->service = service_new(service_name, source->unit);
        conversion->args = launch_args_new();
        conversion->image.tool_words = g_ptr_array_new_with_free_func(g_free);
        conversion->network.made = new_notes();
        conversion->network.wishes = new_notes();
        conversion->network.published = new_notes();
        conversion->network.services = g_ptr_array_new_with_free_func(g_free);
        conversion->podman.args = new_notes();
        conversion->podman.global_args = new_notes();
        conversion->podman.modules = new_notes();
        conversion->reload.command = g_ptr_array_new_with_free_func(g_free);
        conversion->log.limits = new_notes();
        conversion->remap = g_ptr_array_new_with_free_func(g_free);
        conversion->sources = g_array_new(FALSE, FALSE, sizeof(MountSource));
        g_array_set_clear_func(conversion->sources, source_clear);
        return conversion;
}

void conversion_free(Conversion *conversion) {
        g_ptr_array_unref(conversion->findings);
        service_free(conversion->service);
        launch_args_free(conversion->args);
        g_free(conversion->image.name);
        g_free(conversion->image.rootfs);
        g_free(conversion->image.pull);
        g_ptr_array_unref(conversion->image.tool_words);
        g_free(conversion->image.wanted);
        service_free(conversion->image.puller);
        unit_file_free(conversion->image.puller_unit);
        g_array_unref(conversion->network.made);
        g_array_unref(conversion->network.wishes);
        g_array_unref(conversion->network.published);
        g_ptr_array_unref(conversion->network.services);
        g_free(conversion->network.unit);
        g_free(conversion->network.file);
        if (conversion->network.text)
                g_string_free(conversion->network.text, TRUE);
        g_free(conversion->pod.service);
        g_free(conversion->pod.share);
        g_array_unref(conversion->podman.args);
        g_array_unref(conversion->podman.global_args);
        g_array_unref(conversion->podman.modules);
        g_strfreev(conversion->podman.hook_dirs);
        g_free(conversion->limits.pids);
        g_free(conversion->limits.memory);
        g_free(conversion->limits.memory_swap);
        g_free(conversion->limits.swap);
        g_ptr_array_unref(conversion->reload.command);
        g_array_unref(conversion->log.limits);
        g_free(conversion->user);
        g_free(conversion->group);
        g_ptr_array_unref(conversion->remap);
        g_free(conversion->stop_timeout);
        g_array_unref(conversion->sources);
        g_free(conversion);
}

const UnitLine *conversion_line(const Conversion *conversion, const char *section, const char *key) {
        return unit_section_last(unit_file_section(conversion->source->unit, section), key);
}

const UnitLine *conversion_line_with(const Conversion *conversion, const char *section, const char *key,
                                     const char *text) {
        return unit_section_last_with(unit_file_section(conversion->source->unit, section), key, text);
}

void conversion_find(Conversion *conversion, const UnitLine *line, FindingKind kind, const char *format, ...) {
        Finding *finding = g_new0(Finding, 1);
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        finding->line = line;
        finding->kind = kind;
        if (!line)
                finding->text = g_strdup_printf("%s: %s", conversion->source->path, message);
        else if (!line->key)
                finding->text = g_strdup_printf("%s:%u: %s", line->path, line->number, message);
        else
                finding->text = g_strdup_printf("%s:%u: '%s=': %s", line->path, line->number, line->key, message);
        g_ptr_array_add(conversion->findings, finding);
        conversion->is_refused |= kind == FINDING_PROBLEM;
}

void conversion_add_syntax_problems(Conversion *conversion) {
        const GArray *problems = conversion->source->unit->problems;

        for (guint i = 0; i < problems->len; i++) {
                const UnitProblem *problem = &g_array_index(problems, UnitProblem, i);

                conversion_problem(conversion, &problem->line, "%s", problem->text);
        }
}

void conversion_refusal(Conversion *conversion, const UnitLine *line, const char *reason) {
        Finding *finding;

        conversion_problem(conversion, line, "not supported: %s", reason);
        finding = conversion->findings->pdata[conversion->findings->len - 1];
        finding->reason = reason;
}

/* The lines of one reason stand at several places of the file; the first one says it. */
static void say_reasons_once(const GPtrArray *findings) {
        g_autoptr(GHashTable) said = g_hash_table_new(g_str_hash, g_str_equal);

        for (guint i = 0; i < findings->len; i++) {
                Finding *finding = findings->pdata[i];
                const UnitLine *line = finding->line, *first;

                if (!finding->reason)
                        continue;
                first = g_hash_table_lookup(said, finding->reason);
                if (!first)
                        g_hash_table_insert(said, (void *) finding->reason, (void *) line);
                else if (first != line) {
                        g_free(finding->text);
                        finding->text = g_strdup_printf("%s:%u: '%s=': not supported, see %s:%u", line->path,
                                                        line->number, line->key, first->path, first->number);
                }
        }
}

static int compare_findings(gconstpointer a, gconstpointer b) {
        const UnitLine *left = (*(const Finding *const *) a)->line, *right = (*(const Finding *const *) b)->line;
        unsigned left_place = left ? left->place : G_MAXUINT, right_place = right ? right->place : G_MAXUINT;

        return (left_place > right_place) - (left_place < right_place);
}

/* g_ptr_array_sort() is stable: of one line, what was found first is said first. */
const GPtrArray *conversion_findings(const Conversion *conversion) {
        g_ptr_array_sort(conversion->findings, compare_findings);
        say_reasons_once(conversion->findings);
        return conversion->findings;
}
