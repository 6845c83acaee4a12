/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "generator/container-output.h"
#include "generator/convert.h"
#include "generator/files/load.h"
#include "generator/files/podman-generator.h"
#include "generator/files/tree.h"
#include "generator/kube-files.h"
#include "generator/parts/kernel-control.h"
#include "generator/prefetch.h"
#include "generator/refused.h"
#include "generator/resource-output.h"
#include "generator/run.h"
#include "generator/running.h"
#include "generator/system-image.h"
#include "keyturn-config.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"
#include "libstart/base/program.h"
#include "libstart/request/seccomp-request.h"

#define VERIFY KEYTURN_LIBDIR "/keyturn-verify"

static bool arg_users = false;                                          /* called by the name for users' managers */
static int arg_alone = false, arg_dry_run = false, arg_install = false; /* as getopt_long(3) sets them */
static const char *arg_root = NULL;
static const char *arg_normal = NULL, *arg_early = NULL, *arg_late = NULL;

/*
 * Arguments
 */

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

static const struct option options[] = {
        { "alone", no_argument, &arg_alone, true },
        { "dry-run", no_argument, &arg_dry_run, true },
        { "help", no_argument, NULL, 'h' },
        { "install", no_argument, &arg_install, true },
        { "root", required_argument, NULL, 'r' },
        { "version", no_argument, NULL, 'v' },
        { NULL, 0, NULL, 0 },
};

/* Returns the exit status where there is nothing to be generated, else -1. */
static int parse_argv(int argc, char *argv[]) {
        int c, n;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 0: /* one of the flags */
                        break;
                case 'r':
                        arg_root = optarg;
                        break;
                case 'h':
                        help();
                        program_flush();
                        return EXIT_SUCCESS;
                case 'v':
                        puts("keyturn-generator " KEYTURN_VERSION);
                        program_flush();
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

/* With --verify, all other arguments are those of another program. It gets this one's path, to run it. Returns if
 * there is no such argument. */
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

/* A user's manager runs its own generators, and this is the link to one of them. Where it runs the other, there is
 * nothing to do for it, and nothing to report. Root's manager of a user has no containers. */
static bool has_nothing_to_do(void) {
        return arg_users ? getuid() == 0 && !arg_alone : g_strcmp0(getenv("SYSTEMD_SCOPE"), "user") == 0;
}

/*
 * The steps
 */

/* Where the units will be found; absolute. Transfer full. */
static char *find_directory(bool beside_podman) {
        const char *directory = arg_install   ? KEYTURN_UNITDIR :
                                arg_dry_run   ? "/run/systemd/generator" :
                                beside_podman ? arg_early :
                                                arg_normal;

        return g_canonicalize_filename(directory, NULL);
}

static void take_file(Run *run, const SourceFile *source) {
        bool is_container = g_str_has_suffix(source->name, ".container");

        if (source->is_masked || (run->beside_podman && !is_container))
                return;
        if (source->error)
                refused_put_unreadable(run, source);
        else if (is_container)
                container_put(run, source);
        else
                resource_put(run, source);
}

/* Containers, volumes that are directories of the host, and what is run for a build. */
static bool may_be_written(const Run *run, const SourceFile *source) {
        return !source->is_masked && !source->error &&
               (g_str_has_suffix(source->name, ".container") || g_str_has_suffix(source->name, ".volume") ||
                g_str_has_suffix(source->name, ".build")) &&
               unit_names_service(run->names, source, NULL);
}

/* Note what all containers can write to before the first service is made, where a file needs that
 * (untrusted-paths.h). It is rarely so, and then every file is looked at twice. */
static void survey_untrusted(Run *run, const GPtrArray *files) {
        bool matter = false;

        for (guint i = 0; i < files->len && !matter; i++) {
                const SourceFile *source = files->pdata[i];

                matter = source->unit && untrusted_paths_matter(source->unit);
        }
        for (guint i = 0; i < files->len && matter; i++) {
                g_autoptr(Conversion) file = NULL;

                if (!may_be_written(run, files->pdata[i]))
                        continue;
                file = convert_file(run, files->pdata[i]);
                untrusted_paths_add(run->untrusted, file);
        }
}

static bool is_kube(const SourceFile *source) {
        return g_str_has_suffix(source->name, ".kube");
}

/* Of an application of which a part is refused nothing is started: not even what systemd would restart with it. */
static void refuse_rest(Run *run, const SourceFile *source) {
        bool can_run = g_str_has_suffix(source->name, ".container") || g_str_has_suffix(source->name, ".pod");
        const char *why = can_run ? g_hash_table_lookup(run->refused_kubes, source->path) : NULL;

        if (why && !g_hash_table_contains(run->refused_parts, source))
                refused_put_part(run, source, why);
}

/* An update that was interrupted is ended when all containers have started; else the unit's condition skips it. */
static void put_update_dropin(const Run *run, const char *origin) {
        g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\nWants=keyturn-update-resume.service\n");

        if (run->has_updates)
                writer_put_file(run->writer, origin,
                                keyturn_conf_is_users(run->conf) ? "default.target.d/50-keyturn-update.conf" :
                                                                   "multi-user.target.d/50-keyturn-update.conf",
                                READERS_ALL, text);
}

/* What is made of all containers together. origin: any file, which is named where it cannot be written. */
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

/* Everything is made of what was read before: the files, their names, the machine's configuration. */
static void make_all(Run *run, const Sources *sources) {
        const GPtrArray *problems = keyturn_conf_problems(run->conf);

        running_put_networks(run);
        survey_untrusted(run, sources->files);
        for (guint i = 0; i < sources->files->len; i++)
                if (is_kube(sources->files->pdata[i]))
                        refused_note_kube(run, sources->files->pdata[i]);
        for (guint i = 0; i < sources->files->len; i++)
                if (!is_kube(sources->files->pdata[i]))
                        take_file(run, sources->files->pdata[i]);
        for (guint i = 0; i < sources->files->len; i++)
                refuse_rest(run, sources->files->pdata[i]);
        for (guint i = 0; i < sources->files->len; i++) /* when their parts are known */
                if (is_kube(sources->files->pdata[i]))
                        take_file(run, sources->files->pdata[i]);
        running_put(run);
        for (guint i = 0; i < problems->len; i++)
                run_fail(run, "%s", (char *) problems->pdata[i]);
        if (sources->files->len > 0)
                put_summaries(run, ((const SourceFile *) sources->files->pdata[0])->path);
}

static void finish_writing(Run *run, Writer *writer) {
        g_autoptr(GPtrArray) unwritten = writer_finish(writer);

        for (guint i = 0; i < unwritten->len; i++)
                run_fail(run, "%s", (char *) unwritten->pdata[i]);
}

/* All of it, but for what a system image has already. */
static void write_all(Run *run, const Sources *sources, SystemImage *image) {
        g_autoptr(GError) error = NULL;

        if (run->is_install && run->beside_podman)
                run_fail(
                        run,
                        "Podman's generator is installed: mask it in the image, as units that it makes at boot would "
                        "take the place of these");
        run->writer = writer_new(run->is_dry ? NULL : run->beside_podman ? arg_early : arg_normal);
        run->late = writer_new(arg_late);
        run->image_units = image->before;
        system_image_begin(image, run->writer);
        make_all(run, sources);
        if (!run->beside_podman)
                system_image_mask_others(image, run->writer);
        if (run->has_unit && !arg_alone && !run->is_dry && !arg_root && !arg_users)
                prefetch_libstart();
        finish_writing(run, run->writer);
        finish_writing(run, run->late);
        if (!system_image_finish(image, run->controls, !run->failed, &error) && error)
                run_fail(run, "%s", error->message);
}

/* Said once, not for each file that is to be in there. */
static bool has_unit_directory(void) {
        if (!arg_install || g_file_test(arg_normal, G_FILE_TEST_EXISTS))
                return true;
        log_error("The tree '%s' has no directory '" KEYTURN_UNITDIR "', where the units would be", arg_root ?: "/");
        return false;
}

/* Only where units are made for the kernel that runs. */
static unsigned find_missing(const Sources *sources) {
        bool is_for_this = !arg_root && !arg_install && !arg_dry_run && !arg_alone;

        return is_for_this && sources->files->len > 0 ? kernel_control_missing(arg_users) : 0;
}

static void open_image(Run *run, SystemImage *image) {
        const Tree *tree = arg_alone || arg_dry_run || arg_users ? NULL : run->tree;
        g_autoptr(GError) error = NULL;

        if (!system_image_open(image, run->root, arg_install, tree, &error))
                run_fail(run, "%s", error->message);
}

static bool run_generator(const Tree *tree) {
        const char *unit_dirs = getenv("QUADLET_UNIT_DIRS");
        g_autoptr(GPtrArray) search_path = arg_users ? load_users_search_path(unit_dirs) :
                                                       load_search_path(unit_dirs);
        g_autoptr(Sources) sources = load_sources(tree, search_path);
        bool beside_podman = sources->files->len > 0 && !arg_alone && podman_generator_is_active(tree, arg_users);
        g_autoptr(UnitNames) names = NULL;
        g_autoptr(GHashTable) refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        g_autoptr(GHashTable) refused_kubes = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        g_autoptr(GHashTable) refused_parts = g_hash_table_new(NULL, NULL);
        g_autoptr(KeyturnConf) conf = keyturn_conf_new(tree);
        g_autoptr(FiltersNeeded) filters = filters_needed_new(tree, arg_root, arg_install);
        g_autoptr(UntrustedPaths) untrusted = untrusted_paths_new();
        g_autoptr(Hooks) hooks = hooks_new(arg_root);
        g_autoptr(MachineConf) machine = machine_conf_new(arg_root);
        g_auto(SystemImage) image = { 0 };
        g_autofree char *directory = find_directory(beside_podman);
        Run run = { .root = arg_root ?: "",
                    .directory = directory,
                    .is_dry = arg_dry_run,
                    .is_install = arg_install,
                    .beside_podman = beside_podman,
                    .missing = find_missing(sources),
                    .tree = tree,
                    .conf = conf,
                    .hooks = hooks,
                    .filters = filters,
                    .untrusted = untrusted,
                    .machine = machine,
                    .refused = refused,
                    .refused_kubes = refused_kubes,
                    .refused_parts = refused_parts };

        if (sources->files->len > 0 && !has_unit_directory())
                return false;
        if (arg_users)
                keyturn_conf_set_users(conf);
        if (!beside_podman)
                kube_files_add(tree, sources);
        run.names = names = unit_names_new(sources);

        for (guint i = 0; i < sources->problems->len; i++)
                run_fail(&run, "%s", (char *) sources->problems->pdata[i]);
        open_image(&run, &image);
        if (system_image_is_current(&image, tree, sources, conf, hooks, run.missing) && !beside_podman)
                prefetch_libstart();
        else
                write_all(&run, sources, &image);
        return !run.failed;
}

int keyturn_generator_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        LogTargets targets;
        Tree tree;
        int r;

        arg_users = g_str_has_suffix(argv[0], "keyturn-user-generator");
        execute_verify(argv);
        r = parse_argv(argc, argv);
        if (r >= 0)
                return r;
        if (has_nothing_to_do())
                return EXIT_SUCCESS;
        targets = LOG_TO_STDERR |
                  (arg_users || arg_alone || arg_dry_run || arg_install || arg_root ? 0 : LOG_TO_KMSG);
        log_open("keyturn-generator", targets, LOG_INFO);
        umask(0022);
        /* Of a journal that was made anew a user's manager has the old socket, and so has this. */
        (void) signal(SIGPIPE, SIG_IGN);
        if (!tree_open(&tree, arg_root, &error)) {
                log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        r = run_generator(&tree) ? EXIT_SUCCESS : EXIT_FAILURE;
        tree_close(&tree);
        if (arg_dry_run && !printable_flush(&error)) {
                log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        return r;
}
