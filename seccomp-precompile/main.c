/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <getopt.h>
#include <linux/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/printable.h"
#include "libstart/base/program.h"
#include "libstart/base/user-view.h"
#include "libstart/request/seccomp-request.h"
#include "libstart/seccomp/compile.h"
#include "libstart/seccomp/profile-file.h"
#include "libstart/value/capability.h"
#include "seccomp-precompile/bpf-disassemble.h"
#include "seccomp-precompile/explain.h"
#include "seccomp-precompile/list.h"
#include "seccomp-precompile/precompile.h"
#include "seccomp-precompile/requests.h"

static const char *arg_verb_value; /* of --dump, --explain, --check */
static const char *arg_root = "";
static const char *arg_output;
static const char *arg_caps = "";
static GPtrArray *arg_requests; /* NULL: what the generator has asked for */

static void help(void) {
        puts("seccomp-precompile [OPTION...]\n"
             "seccomp-precompile --list | --dump KEY | --check PROFILE\n"
             "seccomp-precompile --explain PROFILE [--caps CAPS] SYSCALL [ARGUMENT...]\n"
             "\n"
             "Compile the seccomp filters of this system's containers before they start.\n"
             "\n"
             "  --filter PROFILE:CAPS  compile this one, instead of what keyturn-generator\n"
             "                         has asked for; may be given several times\n"
             "  --from FILE            compile what this drop-in of keyturn-generator asks for\n"
             "  --output DIR           write for a system image, not for this boot\n"
             "  --root DIR             look at the tree below DIR instead of this machine's\n"
             "\n"
             "  --list                 show the filters that there are\n"
             "  --dump KEY             show the instructions of one; KEY may be cut short\n"
             "  --check PROFILE        say what is wrong with a profile\n"
             "  --explain PROFILE      show which rules let or forbid a system call\n"
             "                         (PROFILE is a path or 'default')\n"
             "  --caps CAPS            of a container with these capabilities (default: none):\n"
             "                         'CAP_CHOWN,CAP_KILL', 'all', or a mask as --list shows\n"
             "\n"
             "  --help                 show this help\n"
             "  --version              show the version\n"
             "\n"
             "See the man page seccomp-precompile(8).");
}

enum {
        ARG_CAPS = 0x100,
        ARG_CHECK,
        ARG_DUMP,
        ARG_EXPLAIN,
        ARG_FILTER,
        ARG_FROM,
        ARG_HELP,
        ARG_LIST,
        ARG_OUTPUT,
        ARG_ROOT,
        ARG_VERSION,
};

static const struct option options[] = {
        { "caps", required_argument, NULL, ARG_CAPS },     { "check", required_argument, NULL, ARG_CHECK },
        { "dump", required_argument, NULL, ARG_DUMP },     { "explain", required_argument, NULL, ARG_EXPLAIN },
        { "filter", required_argument, NULL, ARG_FILTER }, { "from", required_argument, NULL, ARG_FROM },
        { "help", no_argument, NULL, ARG_HELP },           { "list", no_argument, NULL, ARG_LIST },
        { "output", required_argument, NULL, ARG_OUTPUT }, { "root", required_argument, NULL, ARG_ROOT },
        { "version", no_argument, NULL, ARG_VERSION },     { NULL, 0, NULL, 0 },
};

static bool parse_caps(const char *text, guint64 *ret, GError **error) {
        const char *digits = g_str_has_prefix(text, "0x") ? text + 2 : text;

        *ret = 0;
        return !text[0] ||
               (g_ascii_isxdigit(digits[0]) &&
                g_ascii_string_to_unsigned(digits, 16, 0, CAPABILITY_ALL, ret, NULL)) ||
               capability_add(text, ret, error);
}

static bool dump(char *const *words, GError **error) {
        g_autoptr(SeccompCacheEntry) entry = find_filter(arg_root, arg_verb_value, error);

        if (!entry)
                return false;
        g_autofree char *text = bpf_disassemble(g_bytes_get_data(entry->filter, NULL),
                                                g_bytes_get_size(entry->filter) / sizeof(struct sock_filter));
        printable_print("# %s:%016" G_GINT64_MODIFIER "x\n%s", entry->path, entry->header.bounding_caps, text);
        return true;
}

/* Of --check and --explain. Transfer full. */
static char *find_profile(GError **error) {
        return g_str_equal(arg_verb_value, SECCOMP_REQUEST_DEFAULT) ? seccomp_default_profile_path(arg_root, error) :
                                                                      g_strdup(arg_verb_value);
}

static bool check(char *const *words, GError **error) {
        g_autofree char *path = find_profile(error);
        g_autoptr(SeccompProfile) profile = path ? seccomp_profile_load(arg_root, path, error) : NULL;

        if (!profile || seccomp_filter_check(profile, error))
                return profile;
        return error_prefix(error, "seccomp profile '%s': ", path);
}

static bool explain_call(char *const *words, GError **error) {
        g_autofree char *path = NULL;
        guint64 caps;

        if (!words[0])
                return error_set(error, KT_ERROR_USAGE, "The system call to explain is missing; see --help");
        return parse_caps(arg_caps, &caps, error) && (path = find_profile(error)) &&
               explain(arg_root, path, caps, (const char *const *) words, error);
}

static bool list(char *const *words, GError **error) {
        return list_filters(arg_root, error);
}

static bool compile(char *const *words, GError **error) {
        if (!arg_requests && !(arg_requests = requests_load(arg_root, error)))
                return false;
        if (!precompile(arg_root, arg_output, arg_requests))
                exit(EXIT_FAILURE); /* and has said why */
        return true;
}

typedef bool Verb(char *const *words, GError **error);

static Verb *arg_verb = compile;

static bool set_verb(Verb *verb, const char *value, GError **error) {
        if (arg_verb != compile)
                return error_set(error, KT_ERROR_USAGE, "--list, --dump, --check and --explain exclude each other");
        arg_verb = verb;
        arg_verb_value = value;
        return true;
}

static bool add_filter(const char *text, GError **error) {
        SeccompRequest *request = seccomp_request_parse(text, error);

        if (!arg_requests)
                arg_requests = g_ptr_array_new_with_free_func((GDestroyNotify) seccomp_request_free);
        if (request)
                g_ptr_array_add(arg_requests, request);
        return request;
}

static bool add_file(const char *path, GError **error) {
        g_autoptr(GPtrArray) requests = requests_load_file(path, error);

        if (!requests)
                return false;
        if (arg_requests)
                g_ptr_array_extend_and_steal(arg_requests, g_steal_pointer(&requests));
        else
                arg_requests = g_steal_pointer(&requests);
        return true;
}

static bool take_option(int c, GError **error) {
        switch (c) {
        case ARG_CAPS:
                arg_caps = optarg;
                return true;
        case ARG_CHECK:
                return set_verb(check, optarg, error);
        case ARG_DUMP:
                return set_verb(dump, optarg, error);
        case ARG_EXPLAIN:
                return set_verb(explain_call, optarg, error);
        case ARG_FILTER:
                return add_filter(optarg, error);
        case ARG_FROM:
                return add_file(optarg, error);
        case ARG_LIST:
                return set_verb(list, NULL, error);
        case ARG_OUTPUT:
                arg_output = optarg;
                return true;
        case ARG_ROOT:
                arg_root = g_str_equal(optarg, "/") ? "" : optarg;
                return true;
        }
        return error_set(error, KT_ERROR_USAGE, "There is no such option, or it lacks its value; see --help");
}

static bool run(char *const *words, GError **error) {
        if (arg_verb != explain_call && words[0])
                return error_set(error, KT_ERROR_USAGE, "'%s' is one word too many; see --help", words[0]);
        return arg_verb(words, error);
}

int seccomp_precompile_main(int argc, char *argv[]) {
        g_autoptr(GError) error = NULL;
        int c;

        log_open("seccomp-precompile", LOG_TO_STDERR, getenv("SYSTEMD_LOG_LEVEL") ? LOG_DEBUG : LOG_INFO);
        while (!error && (c = getopt_long(argc, argv, "+h", options, NULL)) >= 0) {
                if (c == ARG_HELP || c == 'h') {
                        help();
                        program_flush();
                        return EXIT_SUCCESS;
                }
                if (c == ARG_VERSION) {
                        puts("seccomp-precompile " KEYTURN_VERSION);
                        program_flush();
                        return EXIT_SUCCESS;
                }
                take_option(c, &error);
        }
        /* A system image's are made by anybody. */
        if (!error && arg_verb == compile && !arg_output)
                (void) user_view_enter(&error);
        if (!error && run(argv + optind, &error) && printable_flush(&error))
                return EXIT_SUCCESS;
        log_error("%s", error->message);
        return EXIT_FAILURE;
}
