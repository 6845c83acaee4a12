/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/verify/neighbours.h"
#include "libstart/value/port-mapping.h"
#include "libstart/value/unit-words.h"

/*
 * Ports
 */

typedef struct Published {
        const SourceFile *source;
        const UnitLine *line;
        PortMapping port;
} Published;

/* Not ports that systemd has to expand, or the kernel chooses; with the host's network they mean nothing. */
static void collect(const MadeUnit *unit, GArray *all) {
        const SourceFile *source = unit->source;
        const char *name = unit->args && g_strcmp0(unit->args->network, "host") == 0 ? NULL :
                                                                                       name_section(source->name);
        const UnitSection *section = source->unit && name ? unit_file_section(source->unit, name) : NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                Published published = { .source = source, .line = &g_array_index(section->lines, UnitLine, i) };

                if (g_strcmp0(published.line->key, "PublishPort") == 0 &&
                    !unit_word_is_unexpanded(published.line->value) &&
                    port_mapping_parse(published.line->value, &published.port, NULL) && published.port.host_port > 0)
                        g_array_append_val(all, published);
        }
}

static bool is_same_port(const PortMapping *a, const PortMapping *b) {
        bool same_address = !a->host_ip[0] || !b->host_ip[0] || g_str_equal(a->host_ip, b->host_ip);

        return a->protocols & b->protocols && same_address && a->host_port < b->host_port + b->range &&
               b->host_port < a->host_port + a->range;
}

void neighbours_check_ports(const Generation *generation, Report *report) {
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Published));

        for (guint i = 0; i < generation->units->len; i++)
                collect(generation->units->pdata[i], all);
        for (guint i = 0; i < all->len; i++)
                for (guint j = 0; j < i; j++) {
                        const Published *later = &g_array_index(all, Published, i),
                                        *first = &g_array_index(all, Published, j);
                        g_autofree char *message = NULL;

                        if (first->source == later->source || !is_same_port(&first->port, &later->port))
                                continue;
                        message = g_strdup_printf("%s:%u publishes the same port: only one of the two can start",
                                                  first->line->path, first->line->number);
                        report_add(report, later->line->path, later->line->number, later->line->key, false,
                                   "port-twice", message);
                }
}

/*
 * Networks
 */

static bool is_described(const char *root, const char *name) {
        static const char *const directories[] = { "/etc/containers/networks", "/var/lib/keyturn/networks" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_strdup_printf("%s%s/%s.json", root, directories[i], name);

                if (g_file_test(path, G_FILE_TEST_EXISTS))
                        return true;
        }
        return false;
}

/* A network's name, and no other way to say which one. */
static bool is_name(const char *name) {
        static const char *const modes[] = { "host", "none",      "bridge", "private",     "default", "podman",
                                             "ns",   "container", "pasta",  "slirp4netns", NULL };

        return name[0] && !strpbrk(name, "%$/") && !name_suffix(name) && !g_strv_contains(modes, name);
}

static bool is_file_of(const Generation *generation, const char *name) {
        for (guint i = 0; i < generation->sources->files->len; i++) {
                const SourceFile *source = generation->sources->files->pdata[i];

                if (g_str_has_prefix(source->name, name) && g_str_equal(source->name + strlen(name), ".network"))
                        return true;
        }
        return false;
}

static void check_network(const Generation *generation, const UnitLine *line, const char *root, Report *report) {
        g_autofree char *name = g_strndup(line->value, strcspn(line->value, ":")), *message = NULL;

        if (!is_name(name) || is_described(root, name))
                return;
        message = is_file_of(generation, name) ?
                          g_strdup_printf("there is no network '%s'; is '%s.network', the file, meant?", name, name) :
                          g_strdup_printf(
                                  "there is no network '%s' in /etc/containers/networks; write %s.network, and "
                                  "Network=%s.network",
                                  name, name, name);
        report_add(report, line->path, line->number, line->key, false, "network-missing", message);
}

static void check_networks(const Generation *generation, const MadeUnit *unit, const char *root, Report *report) {
        const char *name = name_section(unit->source->name);
        const UnitSection *section = unit->source->unit && name ? unit_file_section(unit->source->unit, name) : NULL;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (g_strcmp0(line->key, "Network") == 0)
                        check_network(generation, line, root, report);
        }
}

/*
 * Interfaces
 */

/* "eth9" of "mtu=9000 parent=eth9". Transfer full; NULL without. */
static char *find_parent(const SourceFile *source) {
        static const char option[] = "parent=";
        const UnitLine *line = source_find_line(source, "Network", "Options", option);
        const char *name = line ? strstr(line->value, option) + strlen(option) : NULL;

        return name ? g_strndup(name, strcspn(name, " \t,\"'")) : NULL;
}

/* Of a network that makes none itself: the line that asks for one. */
static const UnitLine *find_interface(const SourceFile *source, char **ret_name) {
        const UnitLine *driver = source_find_line(source, "Network", "Driver", NULL), *line;

        if (!source_find_line(source, "Network", "Options", "mode=unmanaged") &&
            (!driver || (!g_str_equal(driver->value, "macvlan") && !g_str_equal(driver->value, "ipvlan"))))
                return NULL;
        *ret_name = find_parent(source);
        if (*ret_name)
                return source_find_line(source, "Network", "Options", "parent=");
        line = source_find_line(source, "Network", "InterfaceName", NULL);
        *ret_name = line ? g_strdup(line->value) : NULL;
        return line;
}

/* The tree of a system image has none, and says nothing of the machine's. */
static void check_interface(const MadeUnit *unit, const char *root, Report *report) {
        g_autofree char *directory = g_strconcat(root, "/sys/class/net", NULL), *name = NULL, *message = NULL;
        const UnitLine *line = find_interface(unit->source, &name);
        g_autofree char *path = line ? g_build_filename(directory, name, NULL) : NULL;

        if (!line || !name[0] || strpbrk(name, "%$/") || !g_file_test(directory, G_FILE_TEST_IS_DIR) ||
            g_file_test(path, G_FILE_TEST_EXISTS))
                return;
        message = g_strdup_printf("this machine has no interface '%s' now; 'ip link' shows those that it has", name);
        report_add(report, line->path, line->number, line->key, false, "interface-missing", message);
}

/*
 * Drop-ins of the service
 */

/* `systemctl edit` makes them. systemd reads them, and leaves out a section that it does not know. */
static void check_dropin(const MadeUnit *unit, const char *root, const char *path, Report *report) {
        g_autofree char *full = g_strconcat(root, path, NULL), *text = NULL;
        const char *section = name_section(unit->source->name);
        g_autofree char *header = g_strdup_printf("[%s]", section);

        if (!g_file_get_contents(full, &text, NULL, NULL))
                return;
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        for (guint i = 0; lines[i]; i++) {
                g_autofree char *message = NULL;

                if (!g_str_equal(g_strstrip(lines[i]), header))
                        continue;
                message = g_strdup_printf("systemd leaves out %s in a drop-in of the service: put it into %s.d/",
                                          header, unit->source->name);
                report_add(report, path, i + 1, NULL, false, "dropin", message);
        }
}

static void check_dropins(const MadeUnit *unit, const char *root, Report *report) {
        static const char *const directories[] = { "/etc/systemd/system", "/run/systemd/system",
                                                   "/usr/lib/systemd/system" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *directory = g_strdup_printf("%s/%s.d", directories[i], unit->name);
                g_autofree char *full = g_strconcat(root, directory, NULL);
                g_autoptr(GDir) entries = g_dir_open(full, 0, NULL);
                const char *name;

                while (entries && (name = g_dir_read_name(entries))) {
                        g_autofree char *path = g_build_filename(directory, name, NULL);

                        if (g_str_has_suffix(name, ".conf"))
                                check_dropin(unit, root, path, report);
                }
        }
}

void neighbours_check_machine(const Generation *generation, const MadeUnit *unit, const char *root, Report *report) {
        if (!unit->source->unit || !name_section(unit->source->name))
                return;
        check_networks(generation, unit, root, report);
        check_interface(unit, root, report);
        check_dropins(unit, root, report);
}
