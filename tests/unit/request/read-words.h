/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "tests/unit/base/expect-error.h"

#define WORDS(...) ((const char *const[]) { __VA_ARGS__, NULL })

/* A command line, and what it asks for. */
typedef struct ReadWords {
        LaunchArgs *args;
        ContainerRequest request;
} ReadWords;

static inline void read_words_clear(ReadWords *words) {
        container_request_clear(&words->request);
        launch_args_free(words->args);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ReadWords, read_words_clear)

static inline bool try_words(const char *const *words, ReadWords *ret, GError **error) {
        *ret = (ReadWords) { .args = launch_args_parse(words, error) };
        return ret->args && launch_args_read(ret->args, &ret->request, error);
}

/* The same, of what must succeed. */
static inline ReadWords read_words(const char *const *words) {
        g_autoptr(GError) error = NULL;
        ReadWords ret;

        ck_assert_msg(try_words(words, &ret, &error), "%s", error ? error->message : "");
        return ret;
}
