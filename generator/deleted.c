/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include "generator/deleted.h"
#include "generator/files/names.h"
#include "generator/files/shadowed-unit.h"
#include "generator/kinds/container-service.h"
#include "generator/network/network-unit.h"
#include "generator/refused.h"
#include "libstart/base/paths.h"

/* A container that has a directory on /run, so that it runs, and no file any more. */
typedef struct Deleted {
        char *service; /* "camera.service" */
        char *name;    /* of the container */
        guint signal;  /* that stops it, its image's perhaps; 0: not known */
} Deleted;

static void deleted_free(void *data) {
        Deleted *deleted = data;

        g_free(deleted->service);
        g_free(deleted->name);
        g_free(deleted);
}

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

/* Then it was not made of a .container file, and systemd still knows all of it. */
static bool is_others(const char *root, const char *service, const GPtrArray *image_units) {
        g_autofree char *template = name_template_of(service);

        return shadowed_unit_exists(root, service, image_units) ||
               (template && shadowed_unit_exists(root, template, image_units));
}

/* A service that has a unit elsewhere is none of these, unless --install has made that. Of Deleted, transfer full. */
static GPtrArray *find_all(const char *root, const UnitNames *names, const GPtrArray *image_units) {
        g_autofree char *run = g_strconcat(root, PATH_RUN, NULL);
        g_autoptr(GDir) entries = g_dir_open(run, 0, NULL);
        GPtrArray *found = g_ptr_array_new_with_free_func(deleted_free);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = g_strconcat(entry + (entry[0] == '+'), ".service", NULL);
                g_autofree char *directory = NULL, *name = NULL;
                Deleted *deleted;

                if (!name_is_unit(service) || is_made(names, service) || !runs(root, service) ||
                    is_others(root, service, image_units))
                        continue;
                directory = g_build_filename(run, entry, NULL);
                name = find_container(directory);
                if (!name)
                        continue;
                deleted = g_new0(Deleted, 1);
                deleted->service = g_steal_pointer(&service);
                deleted->signal = find_signal(directory, name);
                deleted->name = g_steal_pointer(&name);
                g_ptr_array_add(found, deleted);
        }
        return found;
}

/* The service of the .kube file that it was made of; NULL: of none. keyturn-kube names both so. */
static const char *find_kube(const UnitNames *names, const Deleted *deleted) {
        const GPtrArray *files = unit_names_files(names);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                int stem = (int) strlen(file->name) - (int) strlen(".kube");
                g_autofree char *service = g_strdup_printf("%.*s-%s.service", MAX(stem, 0), file->name,
                                                           deleted->name);

                if (g_str_has_suffix(file->name, ".kube") && g_str_equal(service, deleted->service))
                        return unit_names_service(names, file, NULL);
        }
        return NULL;
}

/* A container that runs on while its file is gone: it is known, and stopped as others are. */
static void put(Run *run, const Deleted *deleted) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        g_autofree char *file = g_strndup(deleted->service, strlen(deleted->service) - strlen(".service"));
        g_autofree char *name = g_strconcat(file, ".container", NULL);
        g_autofree char *signal = deleted->signal ? g_strdup_printf("%u", deleted->signal) : g_strdup("");
        const char *kube = find_kube(run->names, deleted);
        const SourceFile source = { .name = name, .path = name, .unit = nothing };
        g_autoptr(Container) container = container_convert(&source, g_strdup(deleted->service), run->names, run->conf,
                                                           run->machine, run->hooks);

        nothing->readers = READERS_ALL; /* there is nothing of the file's in it */
        /* What was found in an empty file, and chosen for it. */
        g_ptr_array_set_size(container->findings, 0);
        g_string_truncate(container->service->comments, 0);
        container_problem(container, NULL,
                          "the file is gone: what runs goes on until it is stopped, and cannot be started again");
        g_free(container->args->name);
        container->args->name = g_strdup(deleted->name);
        if (signal[0])
                service_set(container->service, "KillSignal", signal);
        if (kube)
                service_unit(container->service, "PartOf", kube);
        network_unit_assume(container);
        refused_put(run, container, run->writer);
}

void deleted_put(Run *run) {
        g_autoptr(GPtrArray) all = find_all(run->root, run->names, run->image_units);

        for (guint i = 0; i < all->len; i++)
                put(run, all->pdata[i]);
}
