/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/base/own-program.h"
#include "libstart/base/printable.h"
#include "libstart/base/program.h"
#include "libstart/base/refusal.h"
#include "libstart/base/user-view.h"
#include "libstart/health/check-command.h"
#include "libstart/health/check-round.h"
#include "libstart/hook/oci-hooks.h"
#include "libstart/pod/pod-command.h"
#include "libstart/request/launch-args.h"
#include "libstart/run/ids-command.h"
#include "libstart/run/start.h"
#include "libstart/systemd/unit-failure.h"
#include "libstart/userns/view.h"
#include "libstart/volume/volume-command.h"
#include "libstart/volume/volume-witness.h"

/* libstart: runs one container as systemd's service, see libstart(8). Called by the units that keyturn-generator
 * writes; by hand for looking at things. */

static int print_help(void) {
        g_autofree char *options = launch_args_help();

        printf("libstart run [OPTION...] IMAGE [COMMAND...]\n"
               "libstart volume [--label KEY=VALUE] [--opt KEY[=VALUE]] NAME\n"
               "libstart volume --unmount | --remove NAME\n"
               "libstart userns UNIT [OPTION...] IMAGE | --unpin UNIT\n"
               "libstart copy UNIT [OPTION...] IMAGE | --forget UNIT | --clean\n"
               "libstart pod up [--share LIST] [--pin FILE] [OPTION...] NAME\n"
               "libstart pod down NAME\n"
               "libstart health UNIT\n\n"
               "Also called by units: poststop DIR NAME, health-every SPAN,\n"
               "refuse UNIT [OPTION...], view\n\n"
               "Start a container, as podman run does, without Podman.\n\n"
               "%s"
               "      --help                         print this help\n"
               "      --version                      print the version\n\n"
               "See libstart(8) and keyturn(7).\n",
               options);
        program_flush();
        return EXIT_SUCCESS;
}

static int print_spec(const LaunchArgs *args, GError **error) {
        g_autofree char *json = start_print_spec(args, error);

        if (!json)
                return EXIT_KEYTURN;
        puts(json);
        return printable_flush(error) ? EXIT_SUCCESS : EXIT_KEYTURN;
}

/* For the journal, and for systemctl status. */
static void fail(const GError *error) {
        log_error("%s", error->message);
        unit_failure_tell(error);
}

/* Exits while it has the arguments and the start: the process ends, and to free the pieces that they are made of
 * before would only take time (40 us). */
G_NORETURN static void run(const char *const *words) {
        GError *error = NULL;
        LaunchArgs *args = launch_args_parse(words, &error);
        Start *start = NULL;
        int status = EXIT_KEYTURN;

        if (args && !args->name) /* Podman would make one up */
                args->name = g_strdup_printf("keyturn-%d", (int) getpid());
        if (args)
                status = args->print_spec == FLAG_TRUE ? print_spec(args, &error) :
                                                         start_container(args, &start, &error);
        if (error)
                fail(error);
        exit(status);
}

/* path: of the unit. For keyturnctl, the words of `run` that identify the container follow. */
static int refuse(const char *path) {
        static const char mark[] = "# " REFUSAL_MARK;
        g_autoptr(GError) error = NULL;
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!g_file_get_contents(path, &text, NULL, &error)) {
                log_error("The file of this service was refused, see journalctl -b -t keyturn-generator (%s)",
                          error->message);
                return EXIT_KEYTURN;
        }
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line && **line == '#'; line++)
                if (g_str_has_prefix(*line, mark)) {
                        log_error("%s", *line + strlen(mark));
                        if (!error)
                                error_set(&error, KT_ERROR_USAGE, "%s", *line + strlen(mark));
                }
        if (error)
                unit_failure_tell(error);
        return EXIT_KEYTURN;
}

typedef bool Command(const char *const *words, GError **error);

static int run_command(Command *command, const char *const *words) {
        g_autoptr(GError) error = NULL;

        if (command(words, &error))
                return EXIT_SUCCESS;
        fail(error);
        return EXIT_KEYTURN;
}

static int check_health(bool (*command)(const char *what, GError **error), const char *what) {
        g_autoptr(GError) error = NULL;

        if (command(what, &error))
                return EXIT_SUCCESS;
        log_error("%s", error->message);
        return g_error_matches(error, KT_ERROR, KT_ERROR_UNSUPPORTED) ? CHECK_REFUSED : EXIT_KEYTURN;
}

static bool view_command(const char *const *words, GError **error) {
        return view_make(error);
}

/* Before the view is entered, in which Podman's half of the user's is not to be seen. */
static bool prepare_removal(char *const argv[], GError **error) {
        bool is_removal = argv[1] && g_str_equal(argv[1], "volume") && g_strcmp0(argv[2], "--remove") == 0;

        return !is_removal || getuid() == 0 || volume_witness_start(error);
}

static bool enter_view(char *argv[], bool enters_containers) {
        g_autoptr(GError) error = NULL;

        if (!prepare_removal(argv, &error))
                ;
        else if (enters_containers ? user_view_enter_anew(argv, &error) : user_view_enter(&error))
                return true;
        log_error("%s", error->message);
        return false;
}

/* Such a payload is not the first process of its namespace, which libstart refuses to be: own-program.c. */
static bool sees_processes(char *const argv[]) {
        for (char *const *word = argv; *word; word++)
                if (g_str_equal(*word, "--pid=host") ||
                    (g_str_equal(*word, "--pid") && g_strcmp0(word[1], "host") == 0))
                        return true;
        return false;
}

int libstart_main(int argc, char *argv[]) {
        bool is_check = argc > 1 && g_str_has_prefix(argv[1], "health");

        log_open("libstart", LOG_TO_STDERR, getenv("KEYTURN_DEBUG") ? LOG_DEBUG : LOG_INFO);
        own_program_protect(argv, is_check || sees_processes(argv));
        for (int i = 1; i < argc && i <= 2; i++) {
                /* With a word behind it, run's -h is --hostname. */
                if (g_str_equal(argv[i], "--help") || (g_str_equal(argv[i], "-h") && (i == 1 || argc == 3)))
                        return print_help();
                if (g_str_equal(argv[i], "--version")) {
                        puts("libstart " KEYTURN_VERSION);
                        program_flush();
                        return EXIT_SUCCESS;
                }
        }
        if (argc == 2 && g_str_equal(argv[1], "view"))
                return run_command(view_command, NULL);
        if (argc > 2 && g_str_equal(argv[1], "refuse")) /* whether there is a view or not */
                return refuse(argv[2]);
        if (!enter_view(argv, is_check))
                return EXIT_KEYTURN;
        if (argc == 4 && g_str_equal(argv[1], "poststop"))
                return oci_hooks_poststop(argv[2], argv[3]) ? EXIT_SUCCESS : EXIT_KEYTURN;
        if (argc > 2 && g_str_equal(argv[1], "volume"))
                return run_command(volume_command, (const char *const *) argv + 2);
        if (argc > 2 && g_str_equal(argv[1], "userns"))
                return run_command(userns_command, (const char *const *) argv + 2);
        if (argc > 2 && g_str_equal(argv[1], "copy"))
                return run_command(copy_command, (const char *const *) argv + 2);
        if (argc > 2 && g_str_equal(argv[1], "pod"))
                return run_command(pod_command, (const char *const *) argv + 2);
        if (argc == 3 && g_str_equal(argv[1], "health"))
                return check_health(check_command, argv[2]);
        if (argc == 3 && g_str_equal(argv[1], "health-every"))
                return check_health(check_round_command, argv[2]);
        if (argc < 2 || !g_str_equal(argv[1], "run")) {
                log_error("That is no command, or words of it are missing; see libstart --help");
                return EXIT_KEYTURN;
        }
        run((const char *const *) argv + 2);
}
