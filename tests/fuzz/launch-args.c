/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "tests/fuzz/fuzz.h"

/* parse(build(x)) == x. */
static void check(char **words, const char *text) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LaunchArgs) args = launch_args_parse((const char *const *) words, &error);
        g_auto(ContainerRequest) request = { 0 };
        bool ok;

        require_error(args, error, text);
        if (!args)
                return;
        g_autoptr(GPtrArray) built = launch_args_build(args);
        g_ptr_array_add(built, NULL);
        g_autoptr(LaunchArgs) again = launch_args_parse((const char *const *) built->pdata, &error);
        require(again, "%s", error->message);
        g_autoptr(GPtrArray) rebuilt = launch_args_build(again);
        g_ptr_array_add(rebuilt, NULL);
        require_same((char **) built->pdata, (char **) rebuilt->pdata);
        ok = launch_args_read(args, &request, &error);
        require_error(ok, error, text);
}

/* A word a line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        g_auto(GStrv) words = g_strsplit(text, "\n", -1);
        g_autoptr(LaunchArgs) options = launch_args_new();
        g_autoptr(GError) error = NULL;
        bool ok;

        check(words, text);
        ok = launch_args_parse_options(options, (const char *const *) words, &error);
        require_error(ok, error, text);
        return 0;
}
