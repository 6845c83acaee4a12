/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/oci/spec.h"
#include "tests/unit/oci/facts.h"

/* What spec_build() is given; each test changes what it is about. */
typedef struct SpecCase {
        ImageConfig image;
        UserIdentity user;
        HostFacts host;
        GPtrArray *file_mounts;
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

static inline runtime_spec_schema_config_schema *build_spec(const SpecCase *c, const char *const *words,
                                                            GError **error) {
        g_autoptr(LaunchArgs) args = parse_args(words);

        return spec_build(args, &c->image, &c->user, &c->host, WORDS("A=1", "B="), c->file_mounts, error);
}

/* The same, of what must succeed. */
static inline runtime_spec_schema_config_schema *expect_spec(const SpecCase *c, const char *const *words) {
        g_autoptr(GError) error = NULL;
        runtime_spec_schema_config_schema *spec = build_spec(c, words, &error);

        ck_assert_msg(spec, "%s", error ? error->message : "");
        return spec;
}

typedef runtime_spec_schema_config_schema Spec;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Spec, free_runtime_spec_schema_config_schema)
