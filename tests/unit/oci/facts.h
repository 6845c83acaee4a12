/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <check.h>

#include "libstart/oci/environment.h"
#include "libstart/oci/host-facts.h"
#include "libstart/option/capability.h"
#include "libstart/option/launch-args.h"
#include "tests/unit/base/expect-error.h"

#define WORDS(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* A machine that can do everything and has nothing of its own. */
static inline HostFacts facts(void) {
        return (HostFacts) {
                .hostname = "hub",
                .nofile_hard = 524288,
                .nproc_hard = 96363,
                .can_raise_limits = true,
                .nr_open = 1073741816,
                .bounding_caps = CAPABILITY_ALL,
                .rootfs_mount = (char *) "/run/keyturn/camera/root",
        };
}

static inline LaunchArgs *parse_args(const char *const *words) {
        g_autoptr(GError) error = NULL;
        LaunchArgs *args = launch_args_parse(words, &error);

        ck_assert_msg(args, "%s", error ? error->message : "");
        return args;
}

/* Transfer full. */
static inline char **build_environment(const LaunchArgs *args, const ImageConfig *image, const UserIdentity *user,
                                       const HostFacts *host, const char *const *files, GError **error) {
        g_auto(GStrv) contents = g_strdupv((char **) files);
        const EnvironmentInput input = {
                .args = args,
                .image = image,
                .user = user,
                .host = host,
                .files = contents,
                .env = args->env,
        };
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autofree char **environment = environment_build(&input, owned, error);

        return g_strdupv(environment);
}

/* "[a][b]"; "-" for NULL. Transfer full. */
static inline char *show(const char *const *list) {
        GString *text = g_string_new(list ? NULL : "-");

        for (size_t i = 0; list && list[i]; i++)
                g_string_append_printf(text, "[%s]", list[i]);
        return g_string_free(text, FALSE);
}

#define expect_list(list, expected)                                           \
        do {                                                                  \
                g_autofree char *shown_ = show((const char *const *) (list)); \
                ck_assert_str_eq(shown_, expected);                           \
        } while (0)
