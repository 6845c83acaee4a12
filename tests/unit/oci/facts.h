/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/environment.h"
#include "libstart/oci/host-facts.h"
#include "libstart/value/capability.h"
#include "tests/unit/request/read-words.h"

/* A machine that can do everything and has nothing of its own. */
static inline HostFacts facts(void) {
        return (HostFacts) {
                .hostname = "hub",
                .nofile_hard = 524288,
                .nproc_hard = 96363,
                .can_raise_limits = true,
                .nr_open = 1073741816,
                .bounding_caps = CAPABILITY_ALL,
        };
}

/* Transfer full. */
static inline char **build_environment(const ContainerRequest *request, const ImageConfig *image,
                                       const UserIdentity *user, const HostFacts *host, const char *const *files,
                                       const char *notify_socket, GError **error) {
        g_auto(GStrv) contents = g_strdupv((char **) files);
        g_autofree char *hostname = container_request_hostname(request, host->hostname);
        const SpecInput input = {
                .request = request,
                .image = image,
                .user = user,
                .host = host,
                .hostname = hostname,
                .notify_socket = notify_socket,
                .env_files = contents,
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
