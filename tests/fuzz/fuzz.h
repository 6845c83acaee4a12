/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Crashes with this message unless the condition holds, so that both kinds of fuzzers keep the input. */
#define require(condition, ...)                                     \
        do {                                                        \
                if (!(condition))                                   \
                        fuzz_fail(__FILE__, __LINE__, __VA_ARGS__); \
        } while (0)

G_NORETURN void fuzz_fail(const char *file, int line, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* There is a result, or else an error that says something, in UTF-8 if the input is. */
#define require_error(ok, error, text) require_error_at(__FILE__, __LINE__, ok, error, text)
void require_error_at(const char *file, int line, bool ok, const GError *error, const char *text);

/* NULL-terminated lists. */
void require_same(char *const *a, char *const *b);
void require_unique(char *const *list);

/* Absolute, and without ".", ".." and needless slashes. */
void require_clean(const char *path);

/* The input as a string: up to its first NUL. Transfer full. */
char *fuzz_text(const uint8_t *data, size_t size);

/* The input as `n` strings that a line "%%" stands between; those that it does not have are empty. NULL-terminated,
 * transfer full. */
char **fuzz_parts(const uint8_t *data, size_t size, guint n);

/* A directory that stands for / in which the file at `path` (absolute) has the input for its contents. There is one
 * of them, and it is removed in the end. */
const char *fuzz_root(const char *path, const uint8_t *data, size_t size);
