/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/log.h"
#include "libstart/base/program.h"
#include "libstart/base/user-view.h"
#include "libstart/image/artifact.h"
#include "libstart/image/pull.h"
#include "libstart/image/tool.h"
#include "libstart/image/unsynced.h"
#include "libstart/systemd/systemd-call.h"
#include "libstart/systemd/unit-failure.h"

/* keyturn-image: brings an image or an artifact into the store ahead of the containers that use it. Called by the
 * units that keyturn-generator makes; see keyturn-image(8). */

static PullRequest request = { .retry = -1 };
static char *arg_tag, *arg_unit;
static gboolean arg_version;

#define TEXT(name, field, help) { name, 0, 0, G_OPTION_ARG_STRING, &request.field, help, "VALUE" }

static const GOptionEntry entries[] = {
        { "all-tags", 0, 0, G_OPTION_ARG_NONE, &request.all_tags, "Pull all tags (podman)", NULL },
        TEXT("arch", arch, "Processor of the image"),
        TEXT("authfile", authfile, "File with the registry's user and password"),
        TEXT("cert-dir", cert_dir, "Directory with certificates"),
        TEXT("decryption-key", decryption_key, "Key of an encrypted image"),
        { "global-arg", 0, 0, G_OPTION_ARG_STRING_ARRAY, &request.global_args, "Option for podman itself", "OPTION" },
        { "offline", 0, 0, G_OPTION_ARG_NONE, &request.offline, "Do not wait for network-online.target", NULL },
        TEXT("os", os, "Operating system of the image"),
        { "podman-arg", 0, 0, G_OPTION_ARG_STRING_ARRAY, &request.podman_args, "Option for podman pull", "OPTION" },
        TEXT("policy", policy, "missing, newer, always or never"),
        { "retry", 0, 0, G_OPTION_ARG_INT, &request.retry, "How often it is tried again", "N" },
        TEXT("retry-delay", retry_delay, "How long to wait before that"),
        { "tag", 0, 0, G_OPTION_ARG_STRING, &arg_tag, "Name that the image gets", "NAME" },
        TEXT("tls-verify", tls_verify, "Verify certificates: true or false"),
        TEXT("variant", variant, "Variant of the processor"),
        { "unit", 0, 0, G_OPTION_ARG_STRING, &arg_unit,
          "The service that this is: containers that wait for it are started", "UNIT" },
        { "version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Print the version", NULL },
        { 0 },
};

static bool pull(char **words, GError **error) {
        if (!words[0] || words[1])
                return error_set(error, KT_ERROR_USAGE, "'pull' takes one image");
        request.reference = words[0];
        request.tag = arg_tag;
        return image_pull(&request, error);
}

static bool pull_artifact(char **words, GError **error) {
        if (!words[0] || words[1])
                return error_set(error, KT_ERROR_USAGE, "'artifact' takes one artifact");
        request.reference = words[0];
        return artifact_pull(&request, error);
}

static bool build(char **words, GError **error) {
        if (!arg_tag)
                return error_set(error, KT_ERROR_USAGE, "'build' needs --tag");
        return image_build(arg_tag, request.global_args, words, request.offline, error);
}

/* keyturn-image pull|artifact [OPTION...] -- NAME; keyturn-image build [OPTION...] -- OPTION OF PODMAN BUILD... */
static bool run(int argc, char **argv, GError **error) {
        g_autoptr(GOptionContext)
                context = g_option_context_new("- with 'pull', 'artifact' or 'build' as its first word");
        const char *command = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
        char **words;

        g_option_context_add_main_entries(context, entries, NULL);
        g_option_context_set_summary(context,
                                     "Pull or build an image, or pull an artifact, unless it is there:\n\n"
                                     "  keyturn-image pull [OPTION...] -- IMAGE\n"
                                     "  keyturn-image artifact [OPTION...] -- ARTIFACT\n"
                                     "  keyturn-image build --tag=NAME [OPTION...] -- [OPTION...] DIRECTORY\n"
                                     "                    (options of podman build)");
        g_option_context_set_description(context, "See keyturn-image(8).\n");
        g_option_context_set_strict_posix(context, TRUE);
        if (command) {
                argc--;
                argv++;
        }
        if (!g_option_context_parse(context, &argc, &argv, error))
                return false;
        if (arg_version)
                return puts("keyturn-image " KEYTURN_VERSION) >= 0;
        words = argv + 1;
        if (words[0] && g_str_equal(words[0], "--"))
                words++;
        unsynced_warn();
        if (g_strcmp0(command, "pull") == 0)
                return pull(words, error);
        if (g_strcmp0(command, "artifact") == 0)
                return pull_artifact(words, error);
        if (g_strcmp0(command, "build") == 0)
                return build(words, error);
        return error_set(error, KT_ERROR_USAGE,
                         "The first word must be 'pull', 'artifact' or 'build'; see keyturn-image --help");
}

/* A container that was stopped is inactive. After any other failure a start would fail again. */
static bool waits(const char *unit, GError **error) {
        g_autofree char *state = systemd_unit_state(unit, error);

        return g_strcmp0(state, "failed") == 0 &&
               systemd_unit_number(unit, SYSTEMD_SERVICE, "ExecMainStatus", error) == EXIT_NO_IMAGE;
}

static void start_if_waiting(const char *unit, GError **error) {
        if (waits(unit, error))
                (void) systemd_call("StartUnit", unit, "fail", error);
}

/* Says what is wrong, if anything is. Is it over all the same? */
static bool is_over(GError *problem, const char *what, const char *unit) {
        bool untried = g_error_matches(problem, KT_ERROR, KT_ERROR_UNTRIED);

        if (problem)
                log_warning("Cannot %s '%s': %s", what, unit, problem->message);
        g_clear_error(&problem);
        return !untried;
}

/* Who wants this unit, or requires it. */
static bool start_of(const char *unit, const char *property) {
        GError *problem = NULL;
        g_autoptr(GPtrArray) others = systemd_unit_list(unit, SYSTEMD_UNIT, property, &problem);
        bool ok = is_over(g_steal_pointer(&problem), "find out which containers wait for", unit);

        for (guint i = 0; ok && others && i < others->len; i++) {
                start_if_waiting(others->pdata[i], &problem);
                ok = is_over(g_steal_pointer(&problem), "start what may wait for the image,", others->pdata[i]);
        }
        return ok;
}

/* Containers that wait for an image: their start has failed with EXIT_NO_IMAGE, because what brings it had. No
 * process waits, and no timer of theirs: systemd tries again what brings the image, and when that succeeds, they are
 * started. Where systemd did not answer this is tried again, too, by then with the image. */
static bool start_waiting(const char *unit) {
        return start_of(unit, "WantedBy") && start_of(unit, "RequiredBy");
}

int keyturn_image_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;

        setlocale(LC_CTYPE, "");
        log_open("keyturn-image", LOG_TO_STDERR, LOG_INFO);
        if (user_view_enter(&error) && tool_prepare(&error) && run(argc, argv, &error))
                return !arg_unit || start_waiting(arg_unit) ? EXIT_SUCCESS : EXIT_KEYTURN;
        log_error("%s", error->message);
        unit_failure_tell(error);
        return EXIT_KEYTURN;
}
