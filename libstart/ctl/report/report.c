/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/printable.h"
#include "libstart/config/small-file.h"
#include "libstart/ctl/report/commands.h"
#include "libstart/ctl/report/redact.h"

/* Of each command; one that hangs is often the fault that is looked for. With those that clean up: timeout(1). */
#define SECONDS "10"
#define LINES "100"

/* words: NULL-terminated. What it prints, errors too, or why not. Transfer full. */
static char *run(const char *const *words) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        g_autofree char *output = NULL, *errors = NULL;
        g_autoptr(GError) problem = NULL;
        g_auto(GStrv) call = NULL;
        int status = 0;

        g_strv_builder_add_many(builder, "timeout", "--kill-after=2", SECONDS, NULL);
        g_strv_builder_addv(builder, (const char **) words);
        call = g_strv_builder_end(builder);
        if (!g_spawn_sync(NULL, call, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, &errors, &status, &problem))
                return g_strdup_printf("(%s)\n", problem->message);
        if (WIFEXITED(status) && (WEXITSTATUS(status) == 124 || WEXITSTATUS(status) == 137))
                return g_strconcat(output, "(no answer within " SECONDS " s)\n", NULL);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
                return g_strdup("(is not installed)\n");
        return g_strconcat(output, errors, NULL);
}

static void print_output(const char *name, const char *const *words) {
        g_autofree char *text = run(words);

        printable_print("%s%s%s", name, strchr(text, '\n') == text + strlen(text) - 1 ? "" : "\n", text);
}

static void print_state(const char *name, const char *unit) {
        const char *const words[] = {
                "systemctl",
                "show",
                "--property=LoadState,ActiveState,SubState,Result,ExecMainCode,ExecMainStatus,NRestarts,"
                "NeedDaemonReload",
                "--property=FragmentPath,SourcePath,DropInPaths,ActiveEnterTimestamp,InactiveEnterTimestamp",
                "--",
                unit,
                NULL,
        };

        print_output(name, words);
}

/* The first line of what `NAME --version` says. */
static void print_version(const char *name, const char *program) {
        g_autofree char *text = run((const char *const[]) { program, "--version", NULL });

        printable_print("%s: %.*s\n", name, (int) strcspn(text, "\n"), text);
}

static void print_file(const char *path) {
        g_autofree char *text = NULL;

        if (g_file_get_contents(path, &text, NULL, NULL))
                printable_print("%s: %s\n", path, g_strstrip(text));
        else
                printf("%s: (is not there)\n", path);
}

static void print_machine(void) {
        print_version("systemd", "systemctl");
        print_output("kernel: ", (const char *const[]) { "uname", "-srm", NULL });
        print_version("podman", "podman");
        print_version("netavark", "/usr/lib/podman/netavark");
        print_version("aardvark-dns", "/usr/lib/podman/aardvark-dns");
        print_version("crun", "crun");
        print_version("skopeo", "skopeo");
        print_file("/proc/sys/kernel/osrelease");
        print_file("/sys/fs/cgroup/cgroup.controllers");
        print_file("/sys/fs/cgroup/cgroup.subtree_control");
        print_file("/sys/kernel/security/lsm");
        print_file("/sys/fs/selinux/enforce");
        print_file("/sys/module/apparmor/parameters/enabled");
        print_state("\nkeyturn-seccomp.service:\n", "keyturn-seccomp.service");
        print_state("\nkeyturn-relay.service:\n", "keyturn-relay.service");
}

/* Which there are: what is in them is not asked for. */
static void print_configuration(void) {
        static const char *const directories[] = { "/usr/share/containers", "/etc/containers", "/usr/lib/keyturn",
                                                   "/etc/keyturn" };
        static const char *const names[] = { "storage.conf",      "containers.conf", "registries.conf",
                                             "keyturn.conf",      "storage.conf.d",  "containers.conf.d",
                                             "registries.conf.d", "keyturn.conf.d",  "seccomp.json" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                for (size_t j = 0; j < G_N_ELEMENTS(names); j++) {
                        g_autofree char *path = g_build_filename(directories[i], names[j], NULL);
                        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
                        const char *name;

                        if (!dir && access(path, F_OK) == 0)
                                printf("%s\n", path);
                        while (dir && (name = g_dir_read_name(dir)))
                                printable_print("%s/%s\n", path, name);
                }
}

static void print_redacted(const char *path) {
        g_autofree char *text = NULL, *shown = NULL;
        g_autoptr(GError) problem = NULL;

        if (!file_read(path, &text, NULL, &problem) || !text) {
                printable_print("\n# %s: %s\n", path, problem ? problem->message : "is not there");
                return;
        }
        shown = redact_unit(text);
        printable_print("\n# %s\n%s", path, shown);
}

/* Of the generator's lines about the drop-ins of the file itself, which systemd does not know. */
static void print_dropins(const char *unit_path) {
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;

        if (!file_read(unit_path, &text, NULL, NULL) || !text)
                return;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line && (*line)[0] == '#'; line++)
                if (g_str_has_prefix(*line, "# with "))
                        print_redacted(*line + strlen("# with "));
}

/* systemd knows where they are; its `cat` would show all. */
static void print_files(const char *unit) {
        static const char *const properties[] = { "SourcePath", "FragmentPath", "DropInPaths" };

        for (size_t i = 0; i < G_N_ELEMENTS(properties); i++) {
                g_autofree char *text = run((const char *const[]) { "systemctl", "show", "--value", "--property",
                                                                    properties[i], "--", unit, NULL });
                g_auto(GStrv) paths = g_strsplit_set(text, " \n", -1);

                for (char **path = paths; *path; path++)
                        if ((*path)[0] == '/') {
                                print_redacted(*path);
                                print_dropins(*path);
                        }
        }
}

static void print_generator(void) {
        /* The units go where nobody sees them. */
        g_autofree char *text = run((const char *const[]) { "sh", "-c", "exec \"$0\" --dry-run 2>&1 >/dev/null",
                                                            KEYTURN_GENERATORDIR "/keyturn-generator", NULL });
        g_autofree char *shown = redact_messages(text);

        printable_print("%s", shown);
}

/* By its name, or by that of its file. A service that is not there has a report, too: that may be the fault.
 * Transfer full. */
static char *find_unit(const char *name) {
        static const char file[] = ".container";
        bool is_file = g_str_has_suffix(name, file);

        if (strchr(name, '.') && !is_file)
                return g_strdup(name);
        return g_strdup_printf("%.*s.service", (int) (strlen(name) - (is_file ? strlen(file) : 0)), name);
}

int command_report(G_GNUC_UNUSED const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autofree char *unit = NULL;

        if (words[0])
                unit = find_unit(words[0]);
        printf("Values that may be secret are shown as " REDACTED ". Read it before you send it to anybody.\n");
        if (options->logs)
                printf("WHAT THE CONTAINER HAS SAID, AT THE END, IS AS IT WAS SAID: "
                       "nobody looked for secrets in it.\n");
        printf("\n== Machine ==\nkeyturn: " KEYTURN_VERSION ", with " KEYTURN_CRUN "; %s\n",
               geteuid() == 0 ? "asked by root" : "not asked by root: some is missing");
        fflush(stdout);
        print_machine();
        printf("\n== Configuration files ==\n");
        print_configuration();
        printf("\n== What the generator says ==\n");
        print_generator();
        if (unit) {
                printable_print("\n== %s ==\n", unit);
                print_state("", unit);
                print_files(unit);
        }
        if (unit && options->logs) {
                printf("\n== Journal ==\n");
                print_output("", (const char *const[]) { "journalctl", "--no-pager", "--lines=" LINES, "--unit", unit,
                                                         NULL });
        }
        return 0;
}
