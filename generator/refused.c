/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/convert.h"
#include "generator/files/names.h"
#include "generator/network/network-unit.h"
#include "generator/refused.h"
#include "generator/unit/own-name.h"
#include "generator/unit/specifiers.h"
#include "keyturn-config.h"
#include "libstart/base/printable.h"
#include "libstart/base/refusal.h"
#include "libstart/value/unit-words.h"

/* systemd would not like the line either, or it is what must not be done. */
static void drop_line(UnitFile *unit, const UnitLine *refused) {
        static const char *const sections[] = { "Unit", "Service", "Install" };

        for (size_t i = 0; i < G_N_ELEMENTS(sections); i++) {
                const UnitSection *section = unit_file_section(unit, sections[i]);

                for (guint j = 0; section && j < section->lines->len; j++) {
                        UnitLine *line = &g_array_index(section->lines, UnitLine, j);

                        if (line == refused)
                                line->text = "# (refused)";
                }
        }
}

/* For systemctl status of a container that runs on: its journal does not say it. */
static void describe(Conversion *container, const char *why) {
        const UnitLine *line = unit_section_last(container->service->user_unit, "Description");
        const char *what = line && line->value[0] ? line->value : "%N";
        g_autofree char *escaped = specifiers_escape(why, "%"),
                        *text = g_strdup_printf("%s (refused: %s)", what, escaped);

        service_unit(container->service, "Description", text);
}

static void say_findings(Conversion *container) {
        const GPtrArray *findings = conversion_findings(container);
        bool is_described = false;

        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];
                g_autofree char *text = printable(finding->text);

                if (finding->kind != FINDING_PROBLEM)
                        continue;
                service_comment(container->service, REFUSAL_MARK "%s", text);
                drop_line(container->source->unit, finding->line);
                if (!is_described)
                        describe(container, text);
                is_described = true;
        }
}

/* What keyturnctl needs of the container that may still run: a `run` line with nothing in it that is not known to be
 * right. */
static void add_identity(const Conversion *container, GString *command) {
        const LaunchArgs *args = container->args;
        g_autofree char *image = specifiers_escape(container->image.name ?: container->image.rootfs ?: "?", "%$");

        if (!args->state_dir)
                return;
        unit_words_add_option(command, "--name", args->name);
        unit_words_add_option(command, "--state-dir", args->state_dir);
        unit_words_add(command, image);
}

/* An empty assignment takes back all before it, those of the file's author too: nothing of the host may be changed
 * for a start that fails. Else it would be tried again and again with Restart=; a container that still runs and ends
 * is tried once, which says why it does not come back. */
static void fail_start(Conversion *container) {
        Service *service = container->service;
        g_autoptr(GString) command = g_string_new(KEYTURN_LIBDIR "/libstart refuse %y");

        say_findings(container);
        add_identity(container, command);
        service_set(service, "ExecCondition", "");
        service_set(service, "ExecStartPre", "");
        service_set(service, "ExecStart", "");
        service_set(service, "ExecStart", command->str);
        service_set(service, "ExecStartPost", "");
        service_set(service, "RestartPreventExitStatus", "125");
}

/* Nothing says what is to be made ahead: it would fail beside the service, with words about itself. It stays wanted,
 * and with that as it is below a container that still runs. */
static void make_nothing_ahead(const Run *run, const Conversion *container) {
        static const char *const kinds[] = { "copy", "network", "pasta", "ports", "userns" };
        g_auto(OwnName) own = { 0 };

        own_name_find(container->service->name, &own);
        for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !own_name_has_instance(&own); i++) {
                g_autofree char *unit = own_name_unit(&own, kinds[i]),
                                *file = own_name_file(&own, kinds[i], "50-keyturn-refused.conf");
                g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\nConditionPathExists=!/\n\n"
                                                                   "[Service]\nExecStart=\nExecStart=/bin/true\n");

                if (strstr(container->service->unit_first->str, unit) ||
                    strstr(container->service->unit_last->str, unit))
                        writer_put_file(run->writer, container->source->path, file, container->source->unit->readers,
                                        text);
        }
}

/* Is the name its own? That of a file which is Podman's may be another file's, too. */
static bool has_name(const Run *run, const Conversion *container) {
        const SourceFile *maker = unit_names_maker(run->names, container->service->name);

        return maker ? g_str_equal(maker->path, container->source->path) :
                       !g_str_equal(container->service->name, NAME_NONE);
}

void refused_put(const Run *run, Conversion *container) {
        const SourceFile *source = container->source;
        g_autoptr(GString) text = NULL;

        /* Beside Podman's generator the name may be that of a service of Podman's. */
        if (run->is_dry || run->is_install || run->beside_podman || !has_name(run, container))
                return;
        g_hash_table_add(run->refused, g_strdup(container->service->name));
        fail_start(container);
        network_unit_depend(container);
        make_nothing_ahead(run, container);
        text = service_print(container->service, source->path);
        writer_put_unit(run->writer, source->path, container->service, source->unit->readers, text);
}

void refused_note_kube(Run *run, const SourceFile *kube) {
        g_autoptr(Conversion) itself = kube->unit && !kube->error ? convert_file(run, kube) : NULL;
        const GPtrArray *findings = itself ? conversion_findings(itself) : NULL;

        for (guint i = 0; findings && i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->kind == FINDING_PROBLEM && !g_hash_table_contains(run->refused_kubes, kube->path))
                        g_hash_table_insert(run->refused_kubes, kube->path, g_strdup(finding->text));
        }
}

void refused_put_part(const Run *run, const SourceFile *source, const char *why) {
        g_autoptr(Conversion) part = convert_file(run, source);

        g_ptr_array_set_size(part->findings, 0);
        conversion_problem(part, NULL, "another part of it is refused, so nothing of it is started: %s", why);
        network_unit_assume(part);
        refused_put(run, part);
}

void refused_put_unreadable(Run *run, const SourceFile *source) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        SourceFile empty = *source;
        const char *message = source->error->message, *path_end = message + strlen(source->path);
        g_autoptr(Conversion) container = NULL;

        run_fail(run, "%s", message);
        empty.unit = nothing;
        container = convert_file(run, &empty);
        g_ptr_array_set_size(container->findings, 0);
        /* What is said of the file itself begins with its path already. */
        conversion_problem(
                container, NULL, "%s",
                g_str_has_prefix(message, source->path) && g_str_has_prefix(path_end, ": ") ? path_end + 2 : message);
        network_unit_assume(container);
        refused_put(run, container);
}
