/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/spec-process.h"
#include "libstart/oci/spec.h"
#include "tests/unit/oci/facts.h"

typedef runtime_spec_schema_config_schema Spec;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spec, free_runtime_spec_schema_config_schema)

/* What spec_build() is given; each test changes what it is about. */
typedef struct SpecCase {
        ImageConfig image;
        UserIdentity user;
        HostFacts host;
        const char *notify_socket;
        GPtrArray *file_mounts;
        GPtrArray *secret_files;
        const SelinuxLabels *labels;
        MountPlan **ret_mounts; /* or NULL */
} SpecCase;

static inline SpecCase spec_case(void) {
        static const char *const cmd[] = { "/bin/sh", NULL };

        return (SpecCase) {
                .image = { .cmd = (char **) cmd },
                .user = { .home = (char *) "/root", .additional_gids = g_array_new(FALSE, FALSE, sizeof(gid_t)) },
                .host = facts(),
        };
}

static inline void spec_case_clear(SpecCase *spec_case) {
        g_array_unref(spec_case->user.additional_gids);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SpecCase, spec_case_clear)

static inline Spec *build_requested(const SpecCase *c, const ContainerRequest *request, GError **error) {
        g_autofree char *hostname = container_request_hostname(request, c->host.hostname);
        g_auto(PayloadPlan) payload = { 0 };
        SpecInput input = {
                .request = request,
                .image = &c->image,
                .user = &c->user,
                .host = &c->host,
                .hostname = hostname,
                .root = "/run/keyturn/camera/root",
                .notify_socket = c->notify_socket,
                .payload = &payload,
                .file_mounts = c->file_mounts,
                .secret_files = c->secret_files,
                .labels = c->labels,
        };

        return spec_find_capabilities(request, &c->image, &c->host, &input.capabilities, error) &&
                               payload_plan_make(request, &c->image, &payload, error) ?
                       spec_build(&input, c->ret_mounts, error) :
                       NULL;
}

static inline Spec *build_spec(const SpecCase *c, const char *const *words, GError **error) {
        g_auto(ReadWords) asked = { 0 };

        return try_words(words, &asked, error) ? build_requested(c, &asked.request, error) : NULL;
}

/* The same, of what must succeed. */
static inline Spec *expect_spec(const SpecCase *c, const char *const *words) {
        g_autoptr(GError) error = NULL;
        Spec *spec = build_spec(c, words, &error);

        ck_assert_msg(spec, "%s", error ? error->message : "");
        return spec;
}
