/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/unit/service.h"
#include "keyturn-config.h"
#include "libstart/base/printable.h"

static void link_free(void *data) {
        Link *link = data;

        g_free(link->path);
        g_free(link->target);
        g_free(link);
}

Service *service_new(char *name, const UnitFile *unit) {
        Service *service = g_new0(Service, 1);

        service->name = name;
        service->unit = unit;
        service->user_unit = unit_file_section(unit, "Unit");
        service->user_service = unit_file_section(unit, "Service");
        service->comments = g_string_new(NULL);
        service->unit_first = g_string_new(NULL);
        service->unit_last = g_string_new(NULL);
        service->service_last = g_string_new(NULL);
        service->links = g_ptr_array_new_with_free_func(link_free);
        return service;
}

void service_free(Service *service) {
        if (!service)
                return;
        g_free(service->name);
        g_string_free(service->comments, TRUE);
        g_string_free(service->unit_first, TRUE);
        g_string_free(service->unit_last, TRUE);
        g_string_free(service->service_last, TRUE);
        g_ptr_array_unref(service->links);
        g_free(service);
}

static void append_line(GString *lines, const char *key, const char *value) {
        g_string_append(lines, key);
        g_string_append_c(lines, '=');
        g_string_append(lines, value);
        g_string_append_c(lines, '\n');
}

void service_comment(Service *service, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_string_append(service->comments, "# ");
        g_string_append_vprintf(service->comments, format, ap);
        g_string_append_c(service->comments, '\n');
        va_end(ap);
}

/* In systemd an empty assignment does not undo a dependency. Here it undoes those that keyturn would add. */
static bool is_taken_back(const Service *service, const char *key) {
        const UnitSection *section = service->user_unit;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (g_strcmp0(line->key, key) == 0 && !line->value[0])
                        return true;
        }
        return false;
}

void service_unit_first(Service *service, const char *key, const char *value) {
        if (is_taken_back(service, key))
                return;
        append_line(service->unit_first, key, value);
}

void service_unit(Service *service, const char *key, const char *value) {
        append_line(service->unit_last, key, value);
}

void service_set(Service *service, const char *key, const char *value) {
        append_line(service->service_last, key, value);
}

static bool has_commands(const UnitSection *section) {
        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && g_str_has_prefix(line->key, "Exec"))
                        return true;
        }
        return false;
}

void service_confine(Service *service, const char *capabilities, const char *const *devices) {
        if (has_commands(service->user_service))
                return;
        if (!service_user_line(service, "CapabilityBoundingSet"))
                service_set(service, "CapabilityBoundingSet", capabilities);
        if (service_user_line(service, "DevicePolicy"))
                return;
        service_set(service, "DevicePolicy", "closed");
        for (; devices && *devices; devices++)
                service_set(service, "DeviceAllow", *devices);
}

void service_confine_to_store(Service *service) {
        static const char *const devices[] = { "char-* m", "block-* m", NULL };

        service_confine(service,
                        "CAP_CHOWN CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_FSETID CAP_MKNOD CAP_SETFCAP "
                        "CAP_SETGID CAP_SETUID CAP_SYS_ADMIN CAP_SYS_CHROOT",
                        devices);
}

void service_limit_start(Service *service, const char *time) {
        if (!service_user_line(service, "TimeoutStartSec") && !service_user_line(service, "TimeoutSec"))
                service_set(service, "TimeoutStartSec", time);
}

void service_order_after(Service *service, const char *dependency, const char *unit) {
        g_autofree char *line = g_strdup_printf("%s=%s\n", dependency, unit);

        if (strstr(service->unit_last->str, line))
                return;
        service_unit(service, dependency, unit);
        service_unit(service, "After", unit);
}

/* One ".." for each directory that the link is in. */
void service_link(Service *service, char *path, const char *unit) {
        Link *link = g_new0(Link, 1);
        GString *target = g_string_new(NULL);

        for (const char *c = strchr(path, '/'); c; c = strchr(c + 1, '/'))
                g_string_append(target, "../");
        g_string_append(target, unit);
        link->path = path;
        link->target = g_string_free(target, FALSE);
        g_ptr_array_add(service->links, link);
}

void service_exec_start(Service *service, const LaunchArgs *args) {
        g_string_append(service->service_last, "ExecStart=" KEYTURN_LIBDIR "/libstart run");
        launch_args_append(args, service->service_last);
        g_string_append_c(service->service_last, '\n');
}

const UnitLine *service_user_line(const Service *service, const char *key) {
        const UnitLine *line = unit_section_last(service->user_service, key);

        return line && line->value[0] ? line : NULL;
}

/* systemd ignores sections called X-, so that the user's own words can stay in the unit. */
static bool is_systemds(const char *section) {
        static const char *const names[] = { "Install", "Service", "Unit", NULL };

        return g_str_has_prefix(section, "X-") || g_strv_contains(names, section);
}

/* Our lines follow the user's last one at once, however many empty lines are there, and then one line is empty. */
static void end_section(GString *output, const char *more) {
        while (output->len > 1 && output->str[output->len - 1] == '\n' && output->str[output->len - 2] == '\n')
                g_string_truncate(output, output->len - 1);
        g_string_append(output, more);
        g_string_append_c(output, '\n');
}

static void print_section(const Service *service, const char *name, const UnitSection *section, GString *output) {
        bool is_unit = g_str_equal(name, "Unit"), is_service = g_str_equal(name, "Service");

        g_string_append_c(output, '[');
        if (!is_systemds(name))
                g_string_append(output, "X-");
        g_string_append(output, name);
        g_string_append(output, "]\n");
        if (is_unit)
                g_string_append(output, service->unit_first->str);
        if (section)
                unit_section_print(section, output);
        end_section(output, is_unit ? service->unit_last->str : is_service ? service->service_last->str : "");
}

/* Its name may have any character. */
static void add_dropin(GString *output, const char *path) {
        g_autofree char *line = printable(path);

        g_string_append_printf(output, "# with %s\n", line);
}

GString *service_print(const Service *service, const char *path) {
        GString *output = g_string_sized_new(2000);
        const GPtrArray *sections = service->unit->sections;

        g_string_append(output, "# Made by keyturn-generator from ");
        g_string_append(output, path);
        g_string_append_c(output, '\n');
        for (guint i = 0; i < service->unit->dropins->len; i++)
                add_dropin(output, service->unit->dropins->pdata[i]);
        g_string_append(output, service->comments->str);
        g_string_append_c(output, '\n');
        if (!service->user_unit)
                print_section(service, "Unit", NULL, output);
        for (guint i = 0; i < sections->len; i++) {
                const UnitSection *section = sections->pdata[i];

                if (section->name)
                        print_section(service, section->name, section, output);
                else {
                        unit_section_print(section, output);
                        end_section(output, "");
                }
        }
        if (!service->user_service)
                print_section(service, "Service", NULL, output);
        g_string_truncate(output, output->len - 1);
        return output;
}
