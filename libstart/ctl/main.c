/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <locale.h>
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
#include "libstart/base/user-view.h"
#include "libstart/ctl/analyze/commands.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/copy/commands.h"
#include "libstart/ctl/exec/commands.h"
#include "libstart/ctl/install/commands.h"
#include "libstart/ctl/profile/commands.h"
#include "libstart/ctl/remote.h"
#include "libstart/ctl/report/commands.h"
#include "libstart/ctl/update/commands.h"
#include "libstart/table/table.h"

/* One more where a key is renamed or removed, or means something else. */
#define JSON_FORM "1"

/* keyturnctl: looks at the containers of this machine, see keyturnctl(8). Nothing at run time needs it. */

typedef enum CommandWords {
        NONE,      /* it takes none */
        CONTAINER, /* the first names a container */
        PATHS,     /* containers are named in them, all of them or before a colon */
        FILES,     /* of Quadlet's: no system need run */
} CommandWords;

/* The help and, by way of that, the completion are made of this table. */
static const struct Command {
        const char *name;
        const char *arguments; /* for the help */
        const char *help;      /* NULL: not for people */
        CommandWords words;
        bool verbatim;       /* what follows the container is not for us */
        const char *options; /* which it takes, with blanks between */
        int (*run)(const GPtrArray *all, const Options *options, char **words, GError **error);
} commands[] = {
        { "list", "[NAME...]", "containers, their state, images and starts", PATHS, false, "json quiet",
          command_list },
        { "inspect", "NAME", "all about one", CONTAINER, false, "json", command_inspect },
        { "logs", "NAME...", "journalctl of one", CONTAINER, true, "follow json lines tail", command_logs },
        { "top", "[NAME]", "systemd-cgtop of one, or of all", CONTAINER, true, "", command_top },
        { "cp", "SOURCE DEST", "copy files, NAME:PATH is one of them", PATHS, false, "limit", command_copy },
        { "diff", "NAME", "what a container has written to its root", CONTAINER, false, "json", command_diff },
        { "cat", "NAME", "the file, its drop-ins, and the unit made of them", FILES, false, "json", command_cat },
        { "install", "SOURCE...", "files of Quadlet's, from a directory or a URL, too", FILES, false, "json replace",
          command_install },
        { "uninstall", "APPLICATION", "what was installed together", FILES, false, "force json", command_uninstall },
        { "check", "[DIR...]", "what works of files that Podman runs", FILES, false, "files-only json taken",
          command_check },
        { "analyze", "[NAME]", "where the time of the last start went", CONTAINER, false, "json svg",
          command_analyze },
        { "profile", "NAME...", "where processor time goes, as a flame graph", PATHS, false,
          "diff json output seconds starts", command_profile },
        { "networks", "", "networks, who is in them, addresses and ports", NONE, false, "json", command_networks },
        { "pods", "", "pods, their state, containers and ports", NONE, false, "json", command_pods },
        { "volumes", "", "volumes, where they are and who uses them", NONE, false, "json size", command_volumes },
        { "images", "", "what is needed, and where it is", NONE, false, "json", command_images },
        { "health", "[NAME]", "what health checks have found", CONTAINER, false, "json", command_health },
        { "metrics", "", "numbers for Prometheus", NONE, false, "output", command_metrics },
        { "exec", "NAME CMD...", "run a command in a container", CONTAINER, true,
          "env inside interactive tty user workdir", command_exec },
        { "shell", "NAME [CMD...]", "look at it with the host's tools", CONTAINER, true, "", command_shell },
        { "update", "[NAME]", "new images, for AutoUpdate=", CONTAINER, false, "dry-run json resume watch",
          command_update },
        { "report", "[NAME]", "what a report of a fault needs, without secrets", FILES, false, "logs",
          command_report },
        { "end-payload", "NAME [PID]", NULL, CONTAINER, false, "", command_end_payload }, /* HealthOnFailure=stop */
        { "send-stop-signal", "NAME", NULL, CONTAINER, false, "",
          command_send_stop_signal }, /* keyturn-stop@.service */
};

static Options arg_options = { .watch = 10 };
static gboolean arg_interactive, arg_version;
static char *arg_host;

static const GOptionEntry entries[] = {
        { "host", 'H', 0, G_OPTION_ARG_STRING, &arg_host, "On another machine, through ssh; before anything else",
          "HOST" },
        { "json", 0, 0, G_OPTION_ARG_NONE, &arg_options.json, "Print JSON", NULL },
        { "quiet", 'q', 0, G_OPTION_ARG_NONE, &arg_options.quiet, "Print names only (list)", NULL },
        { "svg", 0, 0, G_OPTION_ARG_NONE, &arg_options.svg,
          "Print a picture (analyze): without NAME of the last boot", NULL },
        { "lines", 'n', 0, G_OPTION_ARG_STRING, &arg_options.lines, "No more than the last ones (logs)", "N" },
        { "tail", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &arg_options.lines, NULL, NULL },
        { "follow", 'f', 0, G_OPTION_ARG_NONE, &arg_options.follow, "Wait for more (logs)", NULL },
        { "env", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &arg_options.env, "Set a variable (exec)", "NAME=VALUE" },
        { "user", 'u', 0, G_OPTION_ARG_STRING, &arg_options.user, "Run as somebody else (exec)", "USER[:GROUP]" },
        { "limit", 0, 0, G_OPTION_ARG_STRING, &arg_options.limit, "Copy no more than that (cp)", "SIZE" },
        { "workdir", 'w', 0, G_OPTION_ARG_STRING, &arg_options.workdir, "Run there (exec)", "DIRECTORY" },
        { "interactive", 'i', 0, G_OPTION_ARG_NONE, &arg_interactive, "As it is anyway: pass input on (exec)", NULL },
        { "tty", 't', 0, G_OPTION_ARG_NONE, &arg_options.tty, "Give it a terminal (exec)", NULL },
        { "inside", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_INT, &arg_options.inside, NULL,
          NULL }, /* ctl/exec/exec-restrictions.c */
        { "replace", 0, 0, G_OPTION_ARG_NONE, &arg_options.replace, "In the place of what is there (install)", NULL },
        { "force", 0, 0, G_OPTION_ARG_NONE, &arg_options.force, "Stop what runs (uninstall)", NULL },
        { "logs", 0, 0, G_OPTION_ARG_NONE, &arg_options.logs, "And what the container has said (report)", NULL },
        { "output", 'o', 0, G_OPTION_ARG_FILENAME, &arg_options.output, "Write a file (metrics, profile)", "FILE" },
        { "diff", 0, 0, G_OPTION_ARG_NONE, &arg_options.diff, "Compare two pictures (profile)", NULL },
        { "seconds", 0, 0, G_OPTION_ARG_INT, &arg_options.seconds, "Watch what runs for so long (profile)", "S" },
        { "starts", 0, 0, G_OPTION_ARG_INT, &arg_options.starts, "Stop and start so often (profile)", "N" },
        { "dry-run", 0, 0, G_OPTION_ARG_NONE, &arg_options.dry_run, "Only look what is new (update)", NULL },
        { "resume", 0, 0, G_OPTION_ARG_NONE, &arg_options.resume, "Only end what was interrupted (update)", NULL },
        { "watch", 0, 0, G_OPTION_ARG_INT, &arg_options.watch, "How long a new image must run (update)", "SECONDS" },
        { "files-only", 0, 0, G_OPTION_ARG_NONE, &arg_options.files_only,
          "Judge the files alone, nothing of this machine (check)", NULL },
        { "taken", 0, 0, G_OPTION_ARG_NONE, &arg_options.taken,
          "Only what keyturn takes over from Podman, and how (check)", NULL },
        { "size", 0, 0, G_OPTION_ARG_NONE, &arg_options.size, "Add up what is in them (volumes)", NULL },
        { "version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Print the version", NULL },
        { 0 },
};

static const struct Command *find_command(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
                if (g_str_equal(name, commands[i].name))
                        return &commands[i];
        return NULL;
}

/* What fingers know that are used to podman. */
static const char *find_advice(const char *name) {
        static const struct {
                const char *names, *advice;
        } others[] = {
                { " ps ls containers ", "write keyturnctl list" },
                { " start stop restart kill rm status enable disable ", "containers are services: use systemctl(1)" },
                { " run create build ", "write a file: keyturn.container(5)" },
                { " pull rmi ", "images come by Pull=, by keyturnctl update, and by podman or skopeo" },
                { " stats ", "write keyturnctl top" },
                { " network ", "write keyturnctl networks" },
                { " pod ", "write keyturnctl pods" },
                { " volume ", "write keyturnctl volumes" },
                { " port ", "write keyturnctl list: its PORTS" },
                { " healthcheck ", "write keyturnctl health" },
        };
        g_autofree char *word = g_strdup_printf(" %s ", name);

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                if (strstr(others[i].names, word))
                        return others[i].advice;
        return "see keyturnctl --help";
}

/* The command says which, and asks nobody for that. */
static bool lacks_word(const struct Command *command, char **words) {
        return !words[1] && command->arguments[0] && command->arguments[0] != '[';
}

/* Those behind what it takes would be left out without a word. */
static const char *find_surplus(const struct Command *command, char **words) {
        g_auto(GStrv) taken = g_strsplit(command->arguments, " ", -1);
        guint n = g_strv_length(taken);

        if (command->verbatim || strstr(command->arguments, "...") || g_strv_length(words) <= n + 1)
                return NULL;
        return words[n + 1];
}

static bool check_words(const struct Command *command, char **words, GError **error) {
        const char *surplus = find_surplus(command, words);

        if (surplus && command->words == NONE)
                return error_set(error, KT_ERROR_USAGE, "'%s' takes no arguments; see keyturnctl --help", words[0]);
        if (surplus)
                return error_set(error, KT_ERROR_USAGE, "'%s' takes %s, and not '%s', too", words[0],
                                 command->words == CONTAINER && !strchr(command->arguments, ' ') ? "one container" :
                                                                                                   command->arguments,
                                 surplus);
        return command->verbatim || !g_strv_contains((const char *const *) words, "") ||
               error_set(error, KT_ERROR_USAGE, "A word of '%s' is empty: is a variable of the shell not set?",
                         words[0]);
}

static bool check_options(const Options *options, GError **error) {
        const struct {
                gboolean one, other;
                const char *names;
        } pairs[] = {
                { options->quiet, options->json, "--quiet and --json" },
                { options->svg, options->json, "--svg and --json" },
                { options->dry_run, options->resume, "--dry-run and --resume" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
                if (pairs[i].one && pairs[i].other)
                        return error_set(error, KT_ERROR_USAGE, "Of %s only one can be had", pairs[i].names);
        return options->watch >= 0 ||
               error_set(error, KT_ERROR_USAGE, "--watch: '%d' is no number of seconds", options->watch);
}

static int run(char **words, GError **error) {
        const struct Command *command = words[0] ? find_command(words[0]) : NULL;
        g_autoptr(GPtrArray) all = NULL;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "A command is missing; see keyturnctl --help");
        else if (!command)
                error_set(error, KT_ERROR_USAGE, "There is no command '%s': %s", words[0], find_advice(words[0]));
        else if (!check_words(command, words, error) || !check_options(&arg_options, error))
                return -1;
        else if (command->words == FILES || lacks_word(command, words) ||
                 (all = container_units_find(command->words == CONTAINER ? words[1] : NULL, error)))
                return command->run(all, &arg_options, words + 1, error);
        return -1;
}

static void add_entries(GOptionContext *context, const char *names) {
        g_auto(GStrv) wanted = g_strsplit(names, " ", -1);
        g_autoptr(GArray) some = g_array_new(/* zero_terminated= */ TRUE, FALSE, sizeof(GOptionEntry));

        for (size_t i = 0; entries[i].long_name; i++)
                if (g_strv_contains((const char *const *) wanted, entries[i].long_name))
                        g_array_append_val(some, entries[i]);
        g_option_context_add_main_entries(context, (const GOptionEntry *) (const void *) some->data, NULL);
}

/* Of one command, with the options that it takes. */
static GOptionContext *make_command_context(const struct Command *command) {
        g_autofree char *call = g_strdup_printf("%s %s", command->name, command->arguments);
        GOptionContext *context = g_option_context_new(call);

        add_entries(context, command->options);
        g_option_context_set_summary(context, command->help);
        g_option_context_set_description(context, "See keyturnctl(8).\n");
        return context;
}

static GOptionContext *make_context(void) {
        GOptionContext *context = g_option_context_new("COMMAND [ARGUMENT...]");
        g_autoptr(GString) summary = g_string_new("Look at the containers that keyturn starts.\n");

        for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
                g_autofree char *call = g_strdup_printf("%s %s", commands[i].name, commands[i].arguments);

                if (commands[i].help)
                        g_string_append_printf(summary, "\n  %-21s %s", call, commands[i].help);
        }
        g_option_context_add_main_entries(context, entries, NULL);
        g_option_context_set_summary(context, summary->str);
        g_option_context_set_description(context,
                                         "'keyturnctl --user COMMAND' is of your own containers, not of root's.\n"
                                         "See keyturnctl(8); 'keyturnctl COMMAND --help' shows what one takes.\n");
        return context;
}

/* Options stand before and after the command's name; those behind the container of `exec` are the command's there.
 * Leaves the words, with the command's name first. */
static bool parse(int *argc, char ***argv, GError **error) {
        g_autoptr(GOptionContext) before = make_context(), after = NULL;
        const struct Command *command;

        g_option_context_set_strict_posix(before, TRUE);
        if (!g_option_context_parse(before, argc, argv, error))
                return false;
        if (*argc < 2)
                return true;
        (*argc)--;
        (*argv)++; /* the command in the place of the program */
        command = find_command(**argv);
        after = command ? make_command_context(command) : make_context();
        g_option_context_set_strict_posix(after, command && command->verbatim);
        if (!g_option_context_parse(after, argc, argv, error))
                return error_prefix(error, "%s: ", **argv);
        (*argv)--;
        return true;
}

/* A script asks once which form of JSON it is to read: keyturnctl(8), JSON. */
static int print_version(void) {
        static const char *const columns[] = { "VERSION", "#JSON", NULL };
        g_autoptr(Table) table = table_new(columns);

        table_add(table, g_strdup(KEYTURN_VERSION), g_strdup(JSON_FORM));
        if (arg_options.json)
                table_print(table, true);
        else
                puts("keyturnctl " KEYTURN_VERSION);
        return EXIT_SUCCESS;
}

/* Behind it this process is the user's root. */
static bool enter_users(int argc, char *argv[], GError **error) {
        static const char *const tried[] = { "analyze", "exec", "health", "images", "inspect", "list",
                                             "logs",    "pods", "top",    "update", "volumes", NULL };

        if (argc < 2 || !g_str_equal(argv[1], "--user"))
                return true;
        if (!argv[2] || !(g_strv_contains(tried, argv[2]) || g_str_equal(argv[2], "send-stop-signal"))) {
                g_autofree char *words = g_strjoinv(", ", (char **) tried);

                return error_set(error, KT_ERROR_USAGE, "'--user' stands before one of %s", words);
        }
        if (geteuid() == 0)
                return error_set(error, KT_ERROR_USAGE,
                                 "'--user' is for a user who is not root, as systemctl --user");
        memmove(argv + 1, argv + 2, (size_t) (argc - 1) * sizeof *argv);
        return user_view_enter_anew(argv, error);
}

int keyturnctl_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        char **words = NULL;
        const char *host = remote_find_host(argv + 1, &words);
        int status = -1;

        log_open("keyturnctl", LOG_TO_STDERR, LOG_INFO);
        /* With -H, all that is to be done is done over there: of the words only the first is ours. */
        if (!(host ? remote_execute(host, words, &error) : enter_users(argc, argv, &error))) {
                log_error("%s", error->message);
                return EXIT_KEYTURN;
        }
        own_program_protect(argv, true);
        /* Not LC_MESSAGES: with that, libc would translate libcrun's errors when `exec` has entered a container,
         * still with all of root's capabilities: from a catalogue of the image (its ENV LANGUAGE says which). That
         * names a character set, whose converter is a library of the image, which libc would load into this program.
         */
        setlocale(LC_CTYPE, "");
        if (parse(&argc, &argv, &error)) {
                if (arg_version)
                        status = print_version();
                else if (arg_host)
                        error_set(&error, KT_ERROR_USAGE,
                                  "-H stands before anything else: keyturnctl -H HOST COMMAND");
                else
                        status = run(argv + 1, &error);
        }
        if (!error && !printable_flush(&error))
                status = -1;
        if (error)
                log_error("%s", error->message);
        return status >= 0 ? status : EXIT_KEYTURN;
}
