/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "generator/convert.h"
#include "generator/files/names.h"
#include "generator/network/network-unit.h"
#include "generator/parts/volumes.h"
#include "generator/refused.h"
#include "generator/running.h"
#include "keyturn-config.h"
#include "libstart/base/paths.h"
#include "libstart/value/names.h"

/* Of what lies in /run for the system's manager, the one of this user's. Transfer full. */
static char *find_place(const Run *run, const char *path) {
        const char *users = keyturn_conf_is_users(run->conf) ? getenv("XDG_RUNTIME_DIR") ?: "/dev/null" : NULL;

        return users ? g_strconcat(users, path + strlen("/run"), NULL) : g_strconcat(run->root, path, NULL);
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

/* What stands behind that in the specification that the start has written. No quotation mark is in a text of JSON
 * without a backslash before it, so that what begins with one is no part of a label. Transfer full; NULL: nothing. */
static char *find_text(const char *container, const char *start) {
        g_autofree char *path = g_build_filename(container, "config.json", NULL), *text = NULL;
        const char *found = g_file_get_contents(path, &text, NULL, NULL) ? strstr(text, start) : NULL;

        return found ? g_strndup(found + strlen(start), strcspn(found + strlen(start), "\"/")) : NULL;
}

/* systemd has a link for each unit that runs. What somebody runs by hand is no unit. */
static bool runs(const Run *run, const char *service) {
        g_autofree char *links = find_place(run, "/run/systemd/units/invocation:"),
                        *link = g_strconcat(links, service, NULL);

        return g_file_test(link, G_FILE_TEST_IS_SYMLINK);
}

static bool is_made(const UnitNames *names, const char *service) {
        g_autofree char *template = name_template_of(service);

        return unit_names_maker(names, service) || (template && unit_names_maker(names, template));
}

static bool is_in(const char *root, const char *directory, const char *kind, const char *service) {
        g_autofree char *path = g_strconcat(root, directory, kind, service, NULL);
        struct stat status;

        return lstat(path, &status) == 0;
}

/* Where root's manager does not look. */
static bool is_in_users(const Run *run, const char *kind, const char *service) {
        g_autofree char *runtime = find_place(run, "/run");

        return is_in("", runtime, kind, service) || is_in("", g_get_user_config_dir(), kind, service) ||
               is_in("", g_get_user_data_dir(), kind, service) ||
               is_in(run->root, "/usr/local/share", kind, service) || is_in(run->root, "/usr/share", kind, service);
}

/* Is there a unit of that name, or a link, in a directory that is none of a generator's? Those that --install has
 * made do not count. */
static bool has_unit(const Run *run, const char *service) {
        static const char *const directories[] = {
                "/etc", "/run", "/usr/local/lib", "/usr/lib", "/lib", /* where it is not the same */
        };
        bool is_users = keyturn_conf_is_users(run->conf), found;
        const char *kind = is_users ? "/systemd/user/" : "/systemd/system/";

        if (run->image_units &&
            g_ptr_array_find_with_equal_func((GPtrArray *) run->image_units, service, g_str_equal, NULL))
                return false;
        found = is_users && is_in_users(run, kind, service);
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                found |= is_in(run->root, directories[i], kind, service);
        return found;
}

static bool is_null(const char *root, const char *directory, const char *kind, const char *service) {
        g_autofree char *path = g_strconcat(root, directory, kind, service, NULL);
        struct stat status;

        return stat(path, &status) == 0 &&
               (S_ISCHR(status.st_mode) || (S_ISREG(status.st_mode) && status.st_size == 0));
}

/* By systemctl mask. Then systemd knows nothing of a service that runs, not what it needs, and by 257 no drop-in. */
static bool is_masked(const Run *run, const char *service) {
        bool is_users = keyturn_conf_is_users(run->conf);
        const char *kind = is_users ? "/systemd/user/" : "/systemd/system/";
        g_autofree char *runtime = find_place(run, "/run"), *template = name_template_of(service);

        return is_null(run->root, "/etc", kind, service) || is_null(run->root, "/run", kind, service) ||
               (is_users &&
                (is_null("", runtime, kind, service) || is_null("", g_get_user_config_dir(), kind, service))) ||
               (template && !unit_names_maker(run->names, service) && is_masked(run, template));
}

/* Then it was not made of a .container file, and systemd still knows all of it. */
static bool is_others(const Run *run, const char *service) {
        g_autofree char *template = name_template_of(service);

        return has_unit(run, service) || (template && has_unit(run, template));
}

static bool is_deleted(const Run *run, const char *service) {
        return name_is_unit(service) && !is_made(run->names, service) && runs(run, service) &&
               !is_others(run, service);
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

/* container: what libcrun has of it. It is stopped by the signal that its start has written down, its image's
 * perhaps. */
static void finish_container(const Run *run, Conversion *stub, const char *container) {
        g_autofree char *name = g_path_get_basename(container),
                        *text = find_text(container, "\"org.opencontainers.image.stopSignal\":\"");
        guint64 signal = text ? g_ascii_strtoull(text, NULL, 10) : 0;
        const char *kube = find_kube(run->names, stub->service->name, name);

        if (signal > 0 && signal <= (guint64) SIGRTMAX) {
                g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, signal);

                service_set(stub->service, "KillSignal", number);
        }
        g_free(stub->args->name);
        stub->args->name = g_steal_pointer(&name);
        if (kube)
                service_unit(stub->service, "PartOf", kube);
}

/* secrets: where those of a .kube file's pod would be. */
static void finish_pod(const Run *run, Conversion *stub, const char *secrets) {
        if (g_file_test(secrets, G_FILE_TEST_IS_DIR))
                service_set(stub->service, "RuntimeDirectory", "keyturn/" NAME_KUBE "/%N");
}

/* keyturn-kube calls a pod's volume so. If another has such a name, what is stopped a little early is deleted,
 * too. */
static void stop_with_pod(const Run *run, Service *volume) {
        g_autofree char *above = find_place(run, PATH_POD);
        g_autoptr(GDir) entries = g_dir_open(above, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *pod = g_strconcat(entry, ".service", NULL);

                if (g_str_has_suffix(entry, "-pod") &&
                    strncmp(volume->name, entry, strlen(entry) - strlen("pod")) == 0 && is_deleted(run, pod))
                        service_unit(volume, "PartOf", pod);
        }
}

static void go_before(Service *stub, const char *unit) {
        service_unit(stub, "Conflicts", unit);
        service_unit(stub, "After", unit);
}

/* Whoever makes the volume from now on makes the one that will be there after the next boot, and mounts what is to be
 * mounted then. */
static void finish_volume(const Run *run, Conversion *stub, const char *name) {
        const GPtrArray *files = unit_names_files(run->names);
        g_autofree char *plain = g_strdup_printf("keyturn-volume@%s.service", name),
                        *stop = g_strdup_printf(KEYTURN_LIBDIR "/libstart volume --unmount %s", name);

        service_set(stub->service, "ExecStop", stop);
        stop_with_pod(run, stub->service);
        go_before(stub->service, plain);
        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                bool is_volume = g_str_has_suffix(file->name, ".volume") && file->unit;
                g_autofree char *other = is_volume ? volume_file_name(file) : NULL;
                const char *service = g_strcmp0(other, name) == 0 ? unit_names_service(run->names, file, NULL) : NULL;

                if (service)
                        go_before(stub->service, service);
        }
}

/* What runs on while its file is gone: it is known, and stopped as others are. */
static void put(Run *run, const char *service, const char *suffix,
                void (*finish)(const Run *run, Conversion *stub, const char *what), const char *what) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));
        g_autofree char *name = g_strconcat(stem, suffix, NULL);
        const SourceFile source = { .name = name, .path = name, .unit = nothing };
        g_autoptr(Conversion) stub = convert_as(run, &source, g_strdup(service));

        nothing->readers = READERS_ALL; /* there is nothing of the file's in it */
        /* What was found in an empty file, and chosen for it. */
        g_ptr_array_set_size(stub->findings, 0);
        g_string_truncate(stub->service->comments, 0);
        conversion_problem(stub, NULL,
                           "the file is gone: what runs goes on until it is stopped, and cannot be started again");
        finish(run, stub, what);
        network_unit_assume(stub);
        refused_put(run, stub);
}

static void put_container(Run *run, const char *directory, const char *entry, const char *service) {
        g_autofree char *state = g_build_filename(directory, entry, NULL), *name = find_container(state),
                        *container = g_build_filename(state, name, NULL);

        if (name)
                put(run, service, ".container", finish_container, container);
}

static void put_pod(Run *run, const char *directory, const char *entry, const char *service) {
        g_autofree char *above = find_place(run, PATH_KUBE), *secrets = g_build_filename(above, entry, NULL);

        put(run, service, ".pod", finish_pod, secrets);
}

static void put_volume(Run *run, const char *directory, const char *entry, const char *service) {
        if (name_check_volume(entry, NULL))
                put(run, service, ".volume", finish_volume, entry);
}

static char *named_service(const char *directory, const char *entry) {
        return g_strconcat(entry + (entry[0] == '+'), ".service", NULL);
}

/* It goes with its pod, and that with the last of its containers: at once, if none needed the target any more.
 * Requisite= needs what is active, and does not start it: where the pod is to stay, nothing does. */
static void stay_in_pod(const Run *run, const char *container, GString *text) {
        g_autofree char *pod = find_text(container, "\"path\":\"" PATH_POD "/"),
                        *service = g_strconcat(pod ?: "", ".service", NULL);

        if (pod && name_is_unit(service) && runs(run, service))
                g_string_append_printf(text, "PartOf=%s\nAfter=%s\nRequisite=keyturn-pod@%s.target\n", service,
                                       service, pod);
}

/* What all of a user's bridges lie in goes with the last that wants it. */
static void stay_on_bridges(const Run *run, GString *text) {
        g_autofree char *bridges = find_place(run, PATH_NETWORK "/.bridges");

        if (keyturn_conf_is_users(run->conf) && g_file_test(bridges, G_FILE_TEST_IS_DIR))
                g_string_append(text, "Wants=keyturn-network@.bridges.service keyturn-pasta@.bridges.service\n");
}

static void put_dropin(const Run *run, const char *service, const char *container) {
        g_autofree char *file = g_strconcat(service, ".d/" RUNNING_DROPIN, NULL);
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\n");

        stay_in_pod(run, container, text);
        stay_on_bridges(run, text);
        writer_put_file(run->writer, container, file, READERS_ALL, text);
}

static bool is_refused(const Run *run, const char *service) {
        g_autofree char *template = name_template_of(service);

        return g_hash_table_contains(run->refused, service) ||
               (template && g_hash_table_contains(run->refused, template));
}

/* A file that is refused, or whose pod is, does not say what its container runs in. */
static void put_dropins(const Run *run) {
        g_autofree char *directory = find_place(run, PATH_RUN);
        g_autoptr(GDir) entries = g_hash_table_size(run->refused) > 0 ? g_dir_open(directory, 0, NULL) : NULL;
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = named_service(directory, entry),
                                *state = g_build_filename(directory, entry, NULL), *name = find_container(state),
                                *container = g_build_filename(state, name, NULL);

                if (name && is_refused(run, service) && runs(run, service))
                        put_dropin(run, service, container);
        }
}

static void keep_target(const Run *run, const char *name, const char *container) {
        g_autofree char *file = g_strconcat(name, ".target.d/" RUNNING_DROPIN, NULL);
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\nStopWhenUnneeded=no\nIgnoreOnIsolate=yes\n");

        if (!writer_has(run->writer, file))
                writer_put_file(run->writer, container, file, READERS_ALL, text);
}

static void keep_targets_of(const Run *run, const char *service, const char *container) {
        g_autofree char *name = g_path_get_basename(container),
                        *pod = find_text(container, "\"path\":\"" PATH_POD "/");
        const char *kube = find_kube(run->names, service, name);

        if (pod) {
                g_autofree char *target = g_strconcat("keyturn-pod@", pod, NULL);

                keep_target(run, target, container);
        }
        if (kube) {
                g_autofree char *stem = g_strndup(kube, strlen(kube) - strlen(".service")),
                                *target = g_strconcat("keyturn-kube@", stem, NULL);

                keep_target(run, target, container);
        }
}

/* The target of a pod, or of a .kube file, goes when none of its containers wants it, as one that is masked does not.
 * It is there until the next time that all is read. */
static void keep_pods(const Run *run) {
        g_autofree char *directory = find_place(run, PATH_RUN);
        g_autoptr(GDir) entries = run->is_dry || run->is_install ? NULL : g_dir_open(directory, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = named_service(directory, entry),
                                *state = g_build_filename(directory, entry, NULL), *name = find_container(state),
                                *container = g_build_filename(state, name, NULL);

                if (name && name_is_unit(service) && runs(run, service) && is_masked(run, service))
                        keep_targets_of(run, service, container);
        }
}

/* The file of what runs in a network asks for none any more, or systemd does not know that it does. */
static void keep_networks(const Run *run) {
        g_autofree char *directory = find_place(run, PATH_NETWORK);
        g_autoptr(GDir) entries = run->is_dry || run->is_install ? NULL : g_dir_open(directory, 0, NULL);
        g_autoptr(GString) needs = g_string_new(NULL);
        const char *entry;

        stay_on_bridges(run, needs);
        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = named_service(directory, entry), *template = name_template_of(service);
                const char *asking = unit_names_maker(run->names, service) ? service : template;

                if (!name_is_unit(service) || !runs(run, service))
                        continue;
                if (is_masked(run, service))
                        asking = NULL;
                else if (!is_made(run->names, service) || is_refused(run, service))
                        continue;
                network_unit_keep(service, asking, needs->str, keyturn_conf_is_users(run->conf), run->writer);
        }
}

/* The service that has mounted it; "" where somebody did so by hand. */
static char *read_service(const char *directory, const char *entry) {
        g_autofree char *mark = g_build_filename(directory, entry, NULL), *service = NULL;
        bool found = g_file_get_contents(mark, &service, NULL, NULL) && g_str_has_suffix(service, ".service");

        return found ? g_steal_pointer(&service) : g_strdup("");
}

void running_put(Run *run) {
        static const struct {
                const char *directory;
                char *(*find_service)(const char *directory, const char *entry);
                void (*put)(Run *run, const char *directory, const char *entry, const char *service);
        } kinds[] = { { PATH_RUN, named_service, put_container },
                      { PATH_POD, named_service, put_pod },
                      { PATH_MOUNTED, read_service, put_volume } };

        g_autoptr(GHashTable) done = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
                g_autofree char *directory = find_place(run, kinds[i].directory);
                g_autoptr(GDir) entries = g_dir_open(directory, 0, NULL);
                const char *entry;

                while (entries && (entry = g_dir_read_name(entries))) {
                        g_autofree char *service = kinds[i].find_service(directory, entry);

                        if (is_deleted(run, service) && g_hash_table_add(done, g_strdup(service)))
                                kinds[i].put(run, directory, entry, service);
                }
        }
        put_dropins(run);
        keep_pods(run);
        keep_networks(run);
}

void running_put_networks(const Run *run) {
        g_autofree char *directory = find_place(run, PATH_NETWORK);
        g_autoptr(GDir) entries = run->is_dry || run->is_install ? NULL : g_dir_open(directory, 0, NULL);
        const char *entry;

        while (entries && (entry = g_dir_read_name(entries))) {
                g_autofree char *service = named_service(directory, entry), *template = name_template_of(service);

                if (template && name_is_unit(service))
                        network_unit_write_gone(template, keyturn_conf_is_users(run->conf), run->late);
        }
}
