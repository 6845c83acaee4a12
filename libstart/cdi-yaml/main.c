/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/base/user-view.h"
#include "libstart/cdi-yaml/cdi-yaml.h"
#include "libstart/cdi/cdi-file.h"
#include "libstart/cdi/cdi-search.h"
#include "libstart/config/small-file.h"

/* keyturn-cdi: files of CDI in YAML, as JSON. Without an argument, as keyturn-cdi.service runs it, it puts those of
 * all files where libstart looks for them; with FILE it prints that one's. */

#define SIZE_MAX_OF_A_FILE (8U << 20)

/* What would be refused at a start is refused here. Transfer full; NULL where there is no file, or on errors. */
static char *convert(const char *path, GError **error) {
        g_autofree char *text = NULL, *json = NULL;
        g_autoptr(CdiFile) file = NULL;
        size_t length;

        if (!file_read(path, &text, &length, error) || !text)
                return NULL;
        if (length > SIZE_MAX_OF_A_FILE)
                error_set(error, KT_ERROR_FAILED, "it has more than 8 MiB");
        else
                json = cdi_yaml_to_json(text, length, error);
        if (json)
                file = cdi_file_parse(json, strlen(json), error);
        if (file)
                return g_steal_pointer(&json);
        return error_prefix_null(error, "'%s': ", path);
}

/* The time of the copy says what it was made from (cdi-search.h). Asked for before the file is read: what changes
 * meanwhile makes the copy old. */
static bool put(const char *path, GError **error) {
        g_autofree char *copy = cdi_search_copy_of(path), *directory = g_path_get_dirname(copy), *json = NULL;
        FileIdentity identity;
        struct timespec times[2];

        if (!file_identify(path, &identity))
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        json = convert(path, error);
        if (!json)
                return !*error; /* gone meanwhile */
        times[0] = times[1] = (struct timespec) { identity.ctime / G_GINT64_CONSTANT(1000000000),
                                                  identity.ctime % G_GINT64_CONSTANT(1000000000) };
        return directory_make(directory, 0755, error) &&
               directory_replace_file(copy, json, strlen(json), 0644, times, error);
}

static bool put_all_of(const char *directory) {
        g_autoptr(GError) problem = NULL;
        g_auto(GStrv) names = directory_list(directory, &problem);
        bool ok = names;

        if (problem)
                log_error("%s", problem->message);
        for (char **name = names; name && *name; name++) {
                g_autofree char *path = g_build_filename(directory, *name, NULL);
                g_autoptr(GError) error = NULL;

                if (g_str_has_suffix(*name, ".yaml") && !put(path, &error)) {
                        log_error("%s", error->message);
                        ok = false;
                }
        }
        return ok;
}

static bool put_all(void) {
        bool ok = true;

        for (size_t i = 0; cdi_search_directories[i]; i++)
                ok &= put_all_of(cdi_search_directories[i]);
        return ok;
}

static bool print(const char *path) {
        g_autoptr(GError) error = NULL;
        g_autofree char *json = convert(path, &error);

        if (error)
                log_error("%s", error->message);
        if (!json)
                return false;
        return puts(json) >= 0 && fflush(stdout) == 0;
}

int keyturn_cdi_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;

        log_open("keyturn-cdi", LOG_TO_STDERR, LOG_INFO);
        if (program_says_version("keyturn-cdi", argc, argv))
                return EXIT_SUCCESS;
        if (argc > 2 || (argc == 2 && argv[1][0] != '/')) {
                log_error("usage: keyturn-cdi [FILE], with an absolute path");
                return EXIT_FAILURE;
        }
        /* A start asks from within; what a user's service makes is for her starts. */
        if (argc == 1 && !user_view_enter(&error)) {
                log_error("%s", error->message);
                return EXIT_FAILURE;
        }
        return (argc == 2 ? print(argv[1]) : put_all()) ? EXIT_SUCCESS : EXIT_FAILURE;
}
