/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/container.h"

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

Container *container_new(const SourceFile *source, char *service_name, const UnitNames *names) {
        Container *container = g_new0(Container, 1);

        container->source = source;
        container->names = names;
        container->section = "Container";
        container->service = service_new(service_name, source->unit);
        container->args = launch_args_new();
        container->findings = g_ptr_array_new_with_free_func(finding_free);
        container->sources = g_array_new(FALSE, FALSE, sizeof(MountSource));
        g_array_set_clear_func(container->sources, source_clear);
        container->networks = new_notes();
        container->network_wishes = new_notes();
        container->network_services = g_ptr_array_new_with_free_func(g_free);
        container->published = new_notes();
        container->modules = new_notes();
        container->log_limits = new_notes();
        container->tool_words = g_ptr_array_new_with_free_func(g_free);
        container->podman_args = g_ptr_array_new_with_free_func(g_free);
        container->podman_lines = g_ptr_array_new();
        container->global_args = g_ptr_array_new_with_free_func(g_free);
        container->global_lines = g_ptr_array_new();
        container->remap = g_ptr_array_new_with_free_func(g_free);
        container->reload_cmd = g_ptr_array_new_with_free_func(g_free);
        return container;
}

void container_free(Container *container) {
        if (!container)
                return;
        service_free(container->service);
        launch_args_free(container->args);
        g_ptr_array_unref(container->findings);
        g_array_unref(container->sources);
        g_array_unref(container->networks);
        g_array_unref(container->modules);
        g_array_unref(container->log_limits);
        g_clear_pointer(&container->hook_dirs, g_ptr_array_unref);
        g_array_unref(container->network_wishes);
        g_ptr_array_unref(container->network_services);
        g_array_unref(container->published);
        g_free(container->network_unit);
        g_free(container->network_file);
        if (container->network_text)
                g_string_free(container->network_text, TRUE);
        g_ptr_array_unref(container->podman_args);
        g_ptr_array_unref(container->podman_lines);
        g_ptr_array_unref(container->global_args);
        g_ptr_array_unref(container->global_lines);
        g_ptr_array_unref(container->remap);
        g_ptr_array_unref(container->reload_cmd);
        g_free(container->image);
        g_free(container->pull);
        g_ptr_array_unref(container->tool_words);
        g_free(container->wanted_image);
        service_free(container->puller);
        unit_file_free(container->puller_unit);
        g_free(container->rootfs);
        g_free(container->user);
        g_free(container->group);
        g_free(container->stop_timeout);
        g_free(container->pids_limit);
        g_free(container->memory);
        g_free(container->memory_swap);
        g_free(container->share);
        g_free(container->pod_service);
        g_free(container);
}

const UnitLine *container_line(const Container *container, const char *section, const char *key) {
        return unit_section_last(unit_file_section(container->source->unit, section), key);
}

const UnitLine *container_line_with(const Container *container, const char *section, const char *key,
                                    const char *text) {
        const UnitSection *lines = unit_file_section(container->source->unit, section);

        for (guint i = lines ? lines->lines->len : 0; i > 0; i--) {
                const UnitLine *line = &g_array_index(lines->lines, UnitLine, i - 1);

                if (g_strcmp0(line->key, key) == 0 && strstr(line->value, text))
                        return line;
        }
        return NULL;
}

static void G_GNUC_PRINTF(4, 0)
        add_finding(Container *container, const UnitLine *line, bool is_problem, const char *format, va_list ap) {
        g_autofree char *message = g_strdup_vprintf(format, ap);
        Finding *finding = g_new0(Finding, 1);

        finding->line = line;
        finding->is_problem = is_problem;
        if (!line)
                finding->text = g_strdup_printf("%s: %s", container->source->path, message);
        else if (!line->key)
                finding->text = g_strdup_printf("%s:%u: %s", line->path, line->number, message);
        else
                finding->text = g_strdup_printf("%s:%u: '%s=': %s", line->path, line->number, line->key, message);
        g_ptr_array_add(container->findings, finding);
}

void container_problem(Container *container, const UnitLine *line, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        add_finding(container, line, true, format, ap);
        va_end(ap);
        container->is_refused = true;
}

void container_warning(Container *container, const UnitLine *line, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        add_finding(container, line, false, format, ap);
        va_end(ap);
}

void container_difference(Container *container, const UnitLine *line, const char *format, ...) {
        Finding *finding;
        va_list ap;

        va_start(ap, format);
        add_finding(container, line, false, format, ap);
        va_end(ap);
        finding = container->findings->pdata[container->findings->len - 1];
        finding->is_difference = true;
}

void container_add_syntax_problems(Container *container) {
        const GArray *problems = container->source->unit->problems;

        for (guint i = 0; i < problems->len; i++) {
                const UnitProblem *problem = &g_array_index(problems, UnitProblem, i);

                container_problem(container, &problem->line, "%s", problem->text);
        }
}

void container_refusal(Container *container, const UnitLine *line, const char *reason) {
        Finding *finding;

        container_problem(container, line, "not supported: %s", reason);
        finding = container->findings->pdata[container->findings->len - 1];
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
const GPtrArray *container_findings(const Container *container) {
        g_ptr_array_sort(container->findings, compare_findings);
        say_reasons_once(container->findings);
        return container->findings;
}
