/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "generator/deleted.h"
#include "generator/files/names.h"
#include "generator/kinds/container-service.h"
#include "generator/network/network-unit.h"
#include "generator/refused.h"
#include "libstart/base/paths.h"

/* The directory in it that libcrun has made for a container of that name. Transfer full; NULL where there is none. */
static char *find_container(const char *directory) {
        g_autoptr(GDir) entries = g_dir_open(directory, 0, NULL);
        const char *name;

        while (entries && (name = g_dir_read_name(entries))) {
                g_autofree char *status = g_build_filename(directory, name, "status", NULL);

                if (g_file_test(status, G_FILE_TEST_IS_REGULAR))
                        return g_strdup(name);
        }
        return NULL;
}

/* The start has written it down, by its number. No quotation mark is in a text of JSON without a backslash before it,
 * so that this is none of a label's. */
static guint find_signal(const char *directory, const char *name) {
        static const char key[] = "\"org.opencontainers.image.stopSignal\":\"";
        g_autofree char *path = g_build_filename(directory, name, "config.json", NULL), *text = NULL;
        const char *found = g_file_get_contents(path, &text, NULL, NULL) ? strstr(text, key) : NULL;
        guint64 number = found ? g_ascii_strtoull(found + strlen(key), NULL, 10) : 0;

        return number <= (guint64) SIGRTMAX ? (guint) number : 0;
}

/* systemd has a link for each unit that runs. What somebody runs by hand is no unit. */
static bool runs(const char *root, const char *service) {
        g_autofree char *link = g_strconcat(root, "/run/systemd/units/invocation:", service, NULL);

        return g_file_test(link, G_FILE_TEST_IS_SYMLINK);
}

static bool is_made(const UnitNames *names, const char *service) {
        g_autofree char *template = name_template_of(service);

        return unit_names_maker(names, service) || (template && unit_names_maker(names, template));
}

/* Is there a unit of that name, or a link, in a directory of lower priority than the generator's? Those that
 * --install has made do not count. */
static bool has_unit(const Run *run, const char *service) {
        static const char *const directories[] = {
                "/etc/systemd/system",     "/run/systemd/system", "/usr/local/lib/systemd/system",
                "/usr/lib/systemd/system", "/lib/systemd/system", /* where it is not the same */
        };

        if (run->image_units &&
            g_ptr_array_find_with_equal_func((GPtrArray *) run->image_units, service, g_str_equal, NULL))
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_strconcat(run->root, directories[i], "/", service, NULL);
                struct stat status;

                if (lstat(path, &status) == 0)
                        return true;
        }
        return false;
}

/* Then it was not made of a .container file, and systemd still knows all of it. */
static bool is_others(const Run *run, const char *service) {
        g_autofree char *template = name_template_of(service);

        return has_unit(run, service) || (template && has_unit(run, template));
}

/* The service of the .kube file that it was made of; NULL: of none. keyturn-kube names both so. */
static const char *find_kube(const UnitNames *names, const char *service, const char *container) {
        const GPtrArray *files = unit_names_files(names);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                int stem = (int) strlen(file->name) - (int) strlen(".kube");
                g_autofree char *made = g_strdup_printf("%.*s-%s.service", MAX(stem, 0), file->name, container);

                if (g_str_has_suffix(file->name, ".kube") && g_str_equal(made, service))
                        return unit_names_service(names, file, NULL);
        }
        return NULL;
}

/* A container that runs on while its file is gone: it is known, and stopped as others are. signal: that stops it, its
 * image's perhaps; 0: not known. */
static void put(Run *run, const char *service, const char *container_name, guint signal) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        g_autofree char *file = g_strndup(service, strlen(service) - strlen(".service"));
        g_autofree char *name = g_strconcat(file, ".container", NULL);
        const char *kube = find_kube(run->names, service, container_name);
        const SourceFile source = { .name = name, .path = name, .unit = nothing };
        g_autoptr(Conversion) container = container_convert(&source, g_strdup(service), run->names, run->conf,
                                                            run->machine, run->hooks);

        nothing->readers = READERS_ALL; /* there is nothing of the file's in it */
        /* What was found in an empty file, and chosen for it. */
        g_ptr_array_set_size(container->findings, 0);
        g_string_truncate(container->service->comments, 0);
        conversion_problem(container, NULL,
                           "the file is gone: what runs goes on until it is stopped, and cannot be started again");
        g_free(container->args->name);
        container->args->name = g_strdup(container_name);
        if (signal > 0) {
                g_autofree char *number = g_strdup_printf("%u", signal);

                service_set(container->service, "KillSignal", number);
        }
        if (kube)
                service_unit(container->service, "PartOf", kube);
        network_unit_assume(container);
        refused_put(run, container);
}

void deleted_put(Run *run) {
        g_autofree char *above = g_strconcat(run->root, PATH_RUN, NULL);
        g_autoptr(GDir) entries = g_dir_open(above, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = g_strconcat(entry + (entry[0] == '+'), ".service", NULL);
                g_autofree char *directory = NULL, *name = NULL;

                if (!name_is_unit(service) || is_made(run->names, service) || !runs(run->root, service) ||
                    is_others(run, service))
                        continue;
                directory = g_build_filename(above, entry, NULL);
                name = find_container(directory);
                if (name)
                        put(run, service, name, find_signal(directory, name));
        }
}
