/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/beside-podman.h"
#include "generator/conversion.h"
#include "generator/deleted.h"
#include "generator/elsewhere.h"
#include "generator/filters-needed.h"
#include "generator/health.h"
#include "generator/images.h"
#include "generator/install.h"
#include "generator/keys-build.h"
#include "generator/keys-image.h"
#include "generator/keys-network.h"
#include "generator/keys-pod.h"
#include "generator/keys-volume.h"
#include "generator/machine-conf.h"
#include "generator/names.h"
#include "generator/network-unit.h"
#include "generator/prefetch.h"
#include "generator/refused.h"
#include "generator/secrets.h"
#include "generator/system-image.h"
#include "generator/untrusted-paths.h"
#include "generator/user-namespace.h"
#include "generator/writer.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/option/env-list.h"
#include "libstart/option/seccomp-request.h"

/* Of what cannot have the name that it asks for. */
#define UNNAMED "unnamed.service"

#define VERIFY KEYTURN_LIBDIR "/keyturn-verify"

static bool arg_alone = false, arg_dry_run = false, arg_install = false;
static const char *arg_root = NULL;
static const char *arg_normal = NULL, *arg_early = NULL, *arg_late = NULL;

/* What one run knows. */
typedef struct Run {
        const Tree *tree;
        KeyturnConf *conf;
        Hooks *hooks;
        FiltersNeeded *filters;
        UntrustedPaths *untrusted;
        MachineConf *machine;
        const UnitNames *names;
        const GPtrArray *image_units; /* names of units that --install has made; NULL where it has not */
        bool beside_podman;
        bool has_unit;    /* at least one was made */
        bool has_updates; /* at least one has AutoUpdate= */
        Writer *writer;
        Writer *late; /* for what is there only where nobody else has its name */
        bool failed;
} Run;

static void G_GNUC_PRINTF(2, 3) fail(Run *run, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_autofree char *message = g_strdup_vprintf(format, ap);
        va_end(ap);
        log_error("%s", message);
        run->failed = true;
}

static void report(Run *run, const Container *container) {
        const GPtrArray *findings = container_findings(container);

        for (guint i = 0; i < findings->len; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->is_problem)
                        fail(run, "%s", finding->text);
                else
                        log_warning("%s", finding->text);
        }
}

/* Is the file left to Podman, or its service to the administrator? If so, it is said why. */
static bool is_left(Run *run, const Container *container) {
        g_autofree char *reason = NULL, *override = NULL;

        if (!run->beside_podman || container->source->unit->problems->len > 0) /* Podman could not read them either */
                return false;
        if (!beside_podman_is_ours(container->source))
                reason = beside_podman_reason(container);
        if (reason) {
                log_info("left to Podman: %s", reason);
                return true;
        }
        override = beside_podman_override(run->tree, container->service->name);
        if (override)
                log_info("%s: %s is there, which counts instead", container->source->path, override);
        return override;
}

/* Where the units will be found; absolute. Transfer full. */
static char *output_directory(const Run *run) {
        const char *directory = arg_install        ? KEYTURN_UNITDIR :
                                arg_dry_run        ? "/run/systemd/generator" :
                                run->beside_podman ? arg_early :
                                                     arg_normal;

        return g_canonicalize_filename(directory, NULL);
}

/* A container with more variables than this has them in a file of their own. systemd takes about 10 us for each when
 * it starts a unit (5,000 made `systemctl start` 47 ms longer, and 4 in a file); reading one costs libstart 30 us. */
#define ENV_WORDS_MAX 40

/* Everybody can read the command line while the container starts, and systemd tells it to whoever asks. So where not
 * everybody may read the .container file, all variables go into the file. Those with a specifier or a variable of
 * systemd's cannot: systemd would not expand them there. */
static guint words_max(mode_t readers) {
        return readers == READERS_ALL ? ENV_WORDS_MAX : 0;
}

/* Nothing where there are few. The file is named like the service. */
static void put_environment(Run *run, const Container *container) {
        mode_t readers = container->source->unit->readers;
        LaunchArgs *args = container->args;
        g_autofree char *directory = output_directory(run);
        g_autofree char *stem = g_strndup(container->service->name,
                                          strlen(container->service->name) - strlen(".service"));
        g_autofree char *name = g_strconcat(stem, ".env", NULL);
        g_autoptr(GString) list = NULL;

        if (args->env->len <= words_max(readers))
                return;
        list = env_list_take(args->env);
        args->env_list = g_build_filename(directory, name, NULL);
        if (arg_dry_run)
                g_string_printf(list, "%" G_GSIZE_FORMAT " bytes of variables\n", list->len);
        writer_put_file(run->writer, container->source->path, name, readers, list);
}

static void put_user_namespace(Run *run, const Container *container) {
        g_autofree char *name = NULL;
        g_autoptr(GString) dropin = user_namespace_print(container, &name);

        if (dropin)
                writer_put_file(run->writer, container->source->path, name, container->source->unit->readers, dropin);
}

static void put_untrusted_list(Run *run, const Container *container) {
        g_autofree char *directory = output_directory(run);

        untrusted_paths_refer(run->untrusted, container, directory);
}

/* What containers use. */
static bool is_resource(const SourceFile *source) {
        return !g_str_has_suffix(source->name, ".container");
}

static Container *convert_any(const Run *run, const SourceFile *source, char *name) {
        if (g_str_has_suffix(source->name, ".volume"))
                return volume_convert(source, name, run->names);
        if (g_str_has_suffix(source->name, ".image"))
                return image_convert(source, name, run->names);
        if (g_str_has_suffix(source->name, ".build"))
                return build_convert(source, name, run->names);
        if (g_str_has_suffix(source->name, ".network"))
                return network_convert(source, name, run->names);
        if (g_str_has_suffix(source->name, ".pod"))
                return pod_convert(source, name, run->names, run->conf);
        return convert(source, name, run->names, run->conf, run->hooks);
}

/* Also of a file whose service cannot have its name: what else is wrong with it is to be said at once. */
static Container *convert_named(const Run *run, const SourceFile *source) {
        g_autoptr(GError) error = NULL;
        const char *service = unit_names_service(run->names, source, &error);
        char *name = g_strdup(service ?: UNNAMED);
        Container *container = convert_any(run, source, name);

        if (error)
                container_problem(container, unit_names_line(source), "%s", error->message);
        return container;
}

/* The service that pulls the image, ahead of the container's. */
static void put_puller(Run *run, const Container *container) {
        g_autoptr(GString) text = NULL;

        image_skip_present(container, arg_root ?: "");
        if (!container->puller)
                return;
        text = service_print(container->puller, container->source->path);
        writer_put_unit(run->writer, container->source->path, container->puller, container->source->unit->readers,
                        text);
}

/* Is the name its own? That of a file which is Podman's may be another file's, too. */
static bool has_name(const Run *run, const Container *container) {
        const SourceFile *maker = unit_names_maker(run->names, container->service->name);

        return maker ? g_str_equal(maker->path, container->source->path) :
                       !g_str_equal(container->service->name, UNNAMED);
}

/* Beside Podman's generator the name may be that of a service of Podman's. */
static void put_refused(const Run *run, Container *container, Writer *writer) {
        const SourceFile *source = container->source;
        g_autoptr(GString) text = NULL;

        if (arg_dry_run || arg_install || run->beside_podman || !has_name(run, container))
                return;
        refused_service(container);
        network_unit_depend(container);
        text = service_print(container->service, source->path);
        writer_put_unit(writer, source->path, container->service, source->unit->readers, text);
}

static void make_unit(Run *run, const SourceFile *source) {
        g_autoptr(Container) container = convert_named(run, source);
        g_autoptr(GString) text = NULL;

        untrusted_paths_add(run->untrusted, container);
        network_unit_check(container, run->tree, run->machine);
        if (run->beside_podman && container->mounted_volume)
                container_problem(
                        container, NULL,
                        "Podman makes the volume of %s, and mounts its Device= for its own containers only: "
                        "let Podman run this one, or mount the device with a .mount unit",
                        container->mounted_volume->path);
        if (run->beside_podman && container->pod)
                container_problem(container, container_line(container, "Container", "Pod"),
                                  "Podman makes its pods itself, for its own containers only");
        if (is_left(run, container))
                return;
        untrusted_paths_check_streams(run->untrusted, container);
        filters_needed_check(run->filters, container);
        report(run, container);
        if (container->is_refused) {
                put_refused(run, container, run->writer);
                return;
        }
        filters_needed_add(run->filters, container);
        machine_conf_label(run->machine, container);
        if (container->is_early)
                machine_conf_mounts(run->machine, container->service);
        put_environment(run, container);
        put_untrusted_list(run, container);
        put_user_namespace(run, container);
        network_unit_write(container, run->writer);
        secrets_service(container, run->tree);
        service_exec_start(container->service, container->args);
        put_puller(run, container);
        text = service_print(container->service, source->path);
        run->has_unit = true;
        run->has_updates |= container->is_updated;
        writer_put_unit(run->writer, source->path, container->service, source->unit->readers, text);
        health_put_timers(container, run->writer);
}

/* ExecStart= of a .image file, with a file of its own for its password. */
static void put_credentials(Run *run, const Container *image) {
        GString *auth = image_auth_file(image);
        g_autofree char *directory = output_directory(run), *name = NULL, *path = NULL;

        if (auth) {
                name = g_strconcat(image->service->name, ".auth.json", NULL);
                path = g_build_filename(directory, name, NULL);
                if (arg_dry_run)
                        g_string_printf(auth, "%" G_GSIZE_FORMAT " bytes with a password\n", auth->len);
                writer_put_file(run->writer, image->source->path, name, READERS_NONE, auth);
        }
        image_exec_start(image, path);
}

/* Of what containers use. */
static void make_simple_unit(Run *run, const SourceFile *source) {
        g_autoptr(Container) simple = convert_named(run, source);
        g_autoptr(GString) text = NULL;

        network_unit_check(simple, run->tree, run->machine);
        report(run, simple);
        if (simple->is_refused) {
                put_refused(run, simple, run->writer);
                return;
        }
        if (g_str_has_suffix(source->name, ".volume"))
                machine_conf_mounts(run->machine, simple->service);
        put_user_namespace(run, simple);
        network_unit_write(simple, run->writer);
        if (g_str_has_suffix(source->name, ".image"))
                put_credentials(run, simple);
        image_skip_present(simple, arg_root ?: "");
        text = service_print(simple->service, source->path);
        run->has_unit = true;
        writer_put_unit(run->writer, source->path, simple->service, source->unit->readers, text);
}

/* Why there is nothing made of the other types, and what to do instead. */
static const struct {
        const char *suffix;
        const char *instead;
} other_types[] = {
        { ".artifact", "put the files where the system image has them" },
        { ".kube", "write a .container file for each container" },
};

/* Such a file does not take the name from another generator's unit, and says nothing of how the machine's own starts. */
static void refuse_podmans(Run *run, const SourceFile *source, const char *instead) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        SourceFile readable = *source;
        char *name = unit_names_wanted(source, NULL);
        g_autoptr(Container) stub = NULL;

        readable.unit = source->unit ?: nothing;
        stub = container_new(&readable, name ?: g_strdup(UNNAMED), run->names);
        stub->section = name_podmans_section(source->name);
        container_problem(stub, NULL, "such files are Podman's, whose generator is not active; install it, or %s",
                          instead);
        service_unit(stub->service, "SourcePath", source->path);
        service_set(stub->service, "Type", "oneshot");
        install_apply(stub);
        report(run, stub);
        if (!has_unit_elsewhere(arg_root ?: "", stub->service->name, run->image_units))
                put_refused(run, stub, run->late);
}

/* Podman's generator reads the file where there is one. */
static void refuse_type(Run *run, const SourceFile *source) {
        for (size_t i = 0; i < G_N_ELEMENTS(other_types) && !run->beside_podman; i++)
                if (g_str_has_suffix(source->name, other_types[i].suffix))
                        refuse_podmans(run, source, other_types[i].instead);
}

/* A container that runs must be stopped as it would have been. */
static void refuse_unreadable(Run *run, const SourceFile *source) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        SourceFile empty = *source;
        const char *message = source->error->message, *path_end = message + strlen(source->path);
        g_autoptr(Container) container = NULL;

        fail(run, "%s", message);
        empty.unit = nothing;
        container = convert_named(run, &empty);
        g_ptr_array_set_size(container->findings, 0);
        /* What is said of the file itself begins with its path already. */
        container_problem(container, NULL, "%s",
                          g_str_has_prefix(message, source->path) && g_str_has_prefix(path_end, ": ") ? path_end + 2 :
                                                                                                        message);
        network_unit_assume(container);
        put_refused(run, container, run->writer);
}

/* A container that runs on while its file is gone: it is known, and stopped as others are. */
static void put_deleted(Run *run, const Deleted *deleted) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        g_autofree char *file = g_strndup(deleted->service, strlen(deleted->service) - strlen(".service"));
        g_autofree char *name = g_strconcat(file, ".container", NULL);
        g_autofree char *signal = deleted->signal ? g_strdup_printf("%u", deleted->signal) : g_strdup("");
        const SourceFile source = { .name = name, .path = name, .unit = nothing };
        g_autoptr(Container)
                container = convert(&source, g_strdup(deleted->service), run->names, run->conf, run->hooks);

        nothing->readers = READERS_ALL; /* there is nothing of the file's in it */
        /* What was found in an empty file, and chosen for it. */
        g_ptr_array_set_size(container->findings, 0);
        g_string_truncate(container->service->comments, 0);
        container_problem(container, NULL, "the file is gone, and what runs is stopped for good: systemctl stop %s",
                          deleted->service);
        g_free(container->args->name);
        container->args->name = g_strdup(deleted->name);
        if (signal[0])
                service_set(container->service, "KillSignal", signal);
        network_unit_assume(container);
        put_refused(run, container, run->writer);
}

/* Nobody's mistake: nothing is said of them. */
static void put_all_deleted(Run *run) {
        g_autoptr(GPtrArray) all = deleted_find(arg_root ?: "", run->names, run->image_units);

        for (guint i = 0; i < all->len; i++)
                put_deleted(run, all->pdata[i]);
}

static void take_file(Run *run, const SourceFile *source) {
        if (source->is_masked)
                return;
        if (!name_makes_service(source->name) || (is_resource(source) && run->beside_podman)) {
                refuse_type(run, source);
                return;
        }
        if (source->error)
                refuse_unreadable(run, source);
        else
                (is_resource(source) ? make_simple_unit : make_unit)(run, source);
}

/* An update that was interrupted is ended when all containers have started; else the unit's condition skips it. */
static void put_update_dropin(const Run *run, const char *origin) {
        g_autoptr(GString) text = g_string_new("# Made by keyturn-generator; do not edit.\n[Unit]\n"
                                               "Wants=keyturn-update-resume.service\n");

        if (run->has_updates)
                writer_put_file(run->writer, origin, "multi-user.target.d/50-keyturn-update.conf", READERS_ALL, text);
}

/* Two files that are made of all containers together. `origin`, any .container file, is named where they cannot be
 * written. */
static void put_summaries(Run *run, const char *origin) {
        g_autoptr(GString) filters = filters_needed_print(run->filters),
                           list = untrusted_paths_print(run->untrusted, run->machine);

        machine_conf_write(run->machine, run->writer, origin);
        if (filters)
                writer_put_file(run->writer, origin, SECCOMP_REQUEST_DROPIN, READERS_ALL, filters);
        if (list)
                writer_put_file(run->writer, origin, UNTRUSTED_PATHS_FILE, READERS_NONE, list);
        put_update_dropin(run, origin);
}

static const char *find_service(const Run *run, const SourceFile *source) {
        return source->is_masked || source->error || !g_str_has_suffix(source->name, ".container") ?
                       NULL :
                       unit_names_service(run->names, source, NULL);
}

/* Rarely needed, and then every file is looked at twice. */
static void survey_untrusted_paths(Run *run, const GPtrArray *files) {
        bool matter = false;

        for (guint i = 0; i < files->len && !matter; i++) {
                const SourceFile *source = files->pdata[i];

                matter = source->unit && untrusted_paths_matter(source->unit);
        }
        for (guint i = 0; i < files->len && matter; i++) {
                const char *service = find_service(run, files->pdata[i]);
                g_autoptr(Container) container = NULL;

                if (!service)
                        continue;
                container = convert(files->pdata[i], g_strdup(service), run->names, run->conf, run->hooks);
                untrusted_paths_add(run->untrusted, container);
        }
}

/* Everything is made of what was read before: the files, their names, the machine's configuration. */
static void make_all(Run *run, const Sources *sources) {
        survey_untrusted_paths(run, sources->files);
        for (guint i = 0; i < sources->files->len; i++)
                take_file(run, sources->files->pdata[i]);
        put_all_deleted(run);
        for (guint i = 0; i < keyturn_conf_problems(run->conf); i++)
                fail(run, "%s", keyturn_conf_problem(run->conf, i));
        if (sources->files->len > 0)
                put_summaries(run, ((const SourceFile *) sources->files->pdata[0])->path);
}

static void finish_writing(Run *run, Writer *writer) {
        g_autoptr(GPtrArray) unwritten = writer_finish(writer);

        for (guint i = 0; i < unwritten->len; i++)
                fail(run, "%s", (char *) unwritten->pdata[i]);
}

/* All of it, but for what a system image has already. */
static void write_all(Run *run, const Sources *sources, SystemImage *image) {
        g_autoptr(GError) error = NULL;

        if (arg_install && run->beside_podman)
                fail(run,
                     "Podman's generator is installed: mask it in the image, as units that it makes at boot would "
                     "take the place of these");
        run->writer = writer_new(arg_dry_run ? NULL : run->beside_podman ? arg_early : arg_normal);
        run->late = writer_new(arg_late);
        run->image_units = image->before ? image->before->names : NULL;
        system_image_begin(image, run->writer);
        make_all(run, sources);
        if (!run->beside_podman)
                system_image_mask_others(image, run->writer);
        if (run->has_unit && !arg_alone && !arg_dry_run && !arg_root)
                prefetch_libstart();
        finish_writing(run, run->writer);
        finish_writing(run, run->late);
        if (!system_image_finish(image, !run->failed, &error) && error)
                fail(run, "%s", error->message);
}

static bool run_generator(const Tree *tree) {
        g_autoptr(GPtrArray) search_path = load_search_path(getenv("QUADLET_UNIT_DIRS"));
        g_autoptr(Sources) sources = load_sources(tree, search_path);
        bool beside_podman = sources->files->len > 0 && !arg_alone && beside_podman_is_active(tree);
        g_autoptr(UnitNames) names = unit_names_new(sources, beside_podman);
        g_autoptr(KeyturnConf) conf = keyturn_conf_new(tree);
        g_autoptr(FiltersNeeded) filters = filters_needed_new(tree, arg_root, arg_install);
        g_autoptr(UntrustedPaths) untrusted = untrusted_paths_new();
        g_autoptr(Hooks) hooks = hooks_new(arg_root);
        g_autoptr(MachineConf) machine = machine_conf_new(arg_root);
        g_auto(SystemImage) image = { 0 };
        Run run = { .tree = tree,
                    .conf = conf,
                    .hooks = hooks,
                    .names = names,
                    .filters = filters,
                    .untrusted = untrusted,
                    .machine = machine,
                    .beside_podman = beside_podman };

        for (guint i = 0; i < sources->problems->len; i++)
                fail(&run, "%s", (char *) sources->problems->pdata[i]);
        system_image_open(&image, arg_root ?: "", arg_install, arg_alone || arg_dry_run ? NULL : tree);
        if (system_image_is_current(&image, tree, sources, conf, hooks) && !beside_podman)
                prefetch_libstart();
        else
                write_all(&run, sources, &image);
        return !run.failed;
}

static void help(void) {
        puts("keyturn-generator [OPTION...] NORMAL-DIR [EARLY-DIR LATE-DIR]\n"
             "keyturn-generator [OPTION...] --dry-run\n"
             "keyturn-generator [OPTION...] --install\n"
             "keyturn-generator --verify [--root DIR] [--files-only] [--json] [FILE|DIR...]\n"
             "\n"
             "Make systemd services of .container files. systemd runs this at boot and at\n"
             "daemon-reload; by hand, --dry-run shows what it makes.\n"
             "\n"
             "  --alone     take all files, as if Podman's generator was not there\n"
             "  --dry-run   print the units instead of writing them\n"
             "  --install   make them once, when a system image is built\n"
             "  --verify    say what is wrong with files, and what will hurt later\n"
             "  --root DIR  look at the tree below DIR instead of this machine's\n"
             "  --help      show this help\n"
             "  --version   show the version\n"
             "\n"
             "See the man pages keyturn-generator(8) and keyturn.container(5).");
}

enum {
        ARG_ALONE = 0x100,
        ARG_DRY_RUN,
        ARG_HELP,
        ARG_INSTALL,
        ARG_ROOT,
        ARG_VERSION,
};

static const struct option options[] = {
        { "alone", no_argument, NULL, ARG_ALONE },
        { "dry-run", no_argument, NULL, ARG_DRY_RUN },
        { "help", no_argument, NULL, ARG_HELP },
        { "install", no_argument, NULL, ARG_INSTALL },
        { "root", required_argument, NULL, ARG_ROOT },
        { "version", no_argument, NULL, ARG_VERSION },
        { NULL, 0, NULL, 0 },
};

/* Returns the exit status where there is nothing to be generated, else -1. */
static int parse_argv(int argc, char *argv[]) {
        int c, n;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case ARG_ALONE:
                        arg_alone = true;
                        break;
                case ARG_DRY_RUN:
                        arg_dry_run = true;
                        break;
                case ARG_INSTALL:
                        arg_install = true;
                        break;
                case ARG_ROOT:
                        arg_root = optarg;
                        break;
                case 'h':
                case ARG_HELP:
                        help();
                        return EXIT_SUCCESS;
                case ARG_VERSION:
                        puts("keyturn-generator " KEYTURN_VERSION);
                        return EXIT_SUCCESS;
                default:
                        return 2; /* getopt has said why */
                }
        n = argc - optind;
        if (arg_dry_run || arg_install ? n != 0 || arg_dry_run == arg_install : n != 1 && n != 3) {
                fprintf(stderr, "keyturn-generator: error: %s\n",
                        arg_install ? "--install takes neither directory nor file, and not --dry-run: it makes what "
                                      "becomes of all files" :
                        arg_dry_run ? "--dry-run takes no directory or file: it prints what becomes of all files" :
                                      "one or three directories are needed, or --dry-run");
                return 2;
        }
        arg_normal = arg_install ? g_strconcat(arg_root ?: "", KEYTURN_UNITDIR, NULL) : argv[optind];
        arg_early = n == 3 ? argv[optind + 1] : arg_normal;
        arg_late = n == 3 ? argv[optind + 2] : arg_normal;
        return -1;
}

/* With --verify, all other arguments are those of another program. It gets this one's path, to run it. Returns if there is
 * no such argument. */
static void execute_verify(char *argv[]) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        g_autofree char *self = NULL;
        bool verify = false;

        g_ptr_array_add(words, (void *) VERIFY);
        for (char **word = argv + 1; *word; word++)
                if (g_str_equal(*word, "--verify"))
                        verify = true;
                else
                        g_ptr_array_add(words, *word);
        if (!verify)
                return;
        /* By its name, which is what makes the file the generator. */
        self = g_find_program_in_path(argv[0]);
        g_ptr_array_insert(words, 1, (void *) "--generator");
        g_ptr_array_insert(words, 2, self ?: argv[0]);
        g_ptr_array_add(words, NULL);
        execv(VERIFY, (char **) words->pdata);
        fprintf(stderr, "keyturn-generator: error: cannot execute '%s': %s\n", VERIFY, g_strerror(errno));
        exit(2);
}

/* A user's manager runs its own generators. There is nothing to do for it, and nothing to report. */
static bool is_for_user(void) {
        return g_strcmp0(getenv("SYSTEMD_SCOPE"), "user") == 0;
}

int keyturn_generator_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        LogTargets targets;
        Tree tree;
        int r;

        execute_verify(argv);
        r = parse_argv(argc, argv);
        if (r >= 0)
                return r;
        if (is_for_user())
                return EXIT_SUCCESS;
        targets = LOG_TO_STDERR | (arg_alone || arg_dry_run || arg_install || arg_root ? 0 : LOG_TO_KMSG);
        log_open("keyturn-generator", targets, LOG_INFO);
        umask(0022);
        if (!tree_open(&tree, arg_root, &error)) {
                log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        r = run_generator(&tree) ? EXIT_SUCCESS : EXIT_FAILURE;
        tree_close(&tree);
        return r;
}
