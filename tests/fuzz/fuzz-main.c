/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a fuzzer's one function on all files of a directory, its corpus, and on as many variations of them as make
 * some thousand inputs in all: what a fuzzer has found once is an ordinary test from then on, and what a change of
 * the reader breaks is often found right away. There is no chance in it: the same files make the same variations.
 * Prints TAP, and keeps the input that it crashes on in the working directory. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/string-order.h"
#include "tests/fuzz/fuzz.h"

#define INPUTS 6000

/* What is run now, for when it crashes. */
static struct {
        const char *program, *path;
        guint variation; /* 0: the file itself */
        const GString *input;
} current;

static void keep_input(void) {
        g_autofree char *path = g_strconcat("crash-", current.program, NULL);

        if (!current.input)
                return;
        fprintf(stderr, "%s: crashed on %s, variation %u; the input is in %s\n", current.program, current.path,
                current.variation, path);
        (void) g_file_set_contents(path, current.input->str, (gssize) current.input->len, NULL);
        current.input = NULL;
}

/* So that keep_input() is called whichever sanitizer it is. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__ubsan_default_options(void);

const char *__asan_default_options(void) {
        return "abort_on_error=1";
}

const char *__ubsan_default_options(void) {
        return "abort_on_error=1:print_stacktrace=1";
}

static void on_signal(int number) {
        keep_input();
        (void) signal(number, SIG_DFL);
        (void) raise(number);
}

/* A number below `end`, or 0. */
static gsize pick(GRand *random, gsize end) {
        return end > 0 ? (gsize) g_rand_int_range(random, 0, (gint32) end) : 0;
}

/* A place in `text`, and the length of a piece there, at most `longest`. */
static gsize pick_piece(GRand *random, const GString *text, gsize longest, gsize *ret_length) {
        gsize at = pick(random, text->len), length = pick(random, longest + 1);

        *ret_length = MIN(length, text->len - at);
        return at;
}

/* In memory of its own, so that a sanitizer sees the first byte that is read behind its end. */
static void run(const GString *input) {
        g_autofree char *copy = g_memdup2(input->str, input->len);

        current.input = input;
        (void) LLVMFuzzerTestOneInput((const uint8_t *) (copy ? copy : ""), input->len);
        current.input = NULL;
}

static void cut(GString *input, GRand *random, const GString *other) {
        g_string_truncate(input, pick(random, input->len + 1));
}

static void flip_bit(GString *input, GRand *random, const GString *other) {
        if (input->len > 0)
                input->str[pick(random, input->len)] ^= (char) (1 << pick(random, 8));
}

static void set_character(GString *input, GRand *random, const GString *other) {
        static const char characters[] = "\0\t\n\r !\"#$%&'()*+,-./0129:;<=>?@AZ[\\]^_`az{|}~\x7f\x80\xc3\xff";

        if (input->len > 0)
                input->str[pick(random, input->len)] = characters[pick(random, sizeof characters - 1)];
}

static void erase(GString *input, GRand *random, const GString *other) {
        gsize length, at = pick_piece(random, input, 16, &length);

        g_string_erase(input, (gssize) at, (gssize) length);
}

static void repeat(GString *input, GRand *random, const GString *other) {
        gsize length, at = pick_piece(random, input, 64, &length);
        g_autofree char *piece = g_memdup2(input->str + at, length);

        g_string_insert_len(input, (gssize) pick(random, input->len), piece ? piece : "", (gssize) length);
}

static void insert_other(GString *input, GRand *random, const GString *other) {
        gsize length, at = pick_piece(random, other, 128, &length);

        g_string_insert_len(input, (gssize) pick(random, input->len), other->str + at, (gssize) length);
}

/* Digits become a number that is hard to count to. */
static void set_number(GString *input, GRand *random, const GString *other) {
        static const char *const numbers[] = {
                "-1",
                "0",
                "00",
                "1e999",
                "2147483647",
                "2147483648",
                "4294967295",
                "4294967296",
                "9223372036854775807",
                "9223372036854775808",
                "18446744073709551615",
                "18446744073709551616",
                "0x10",
                "1.5",
                "99999999999999999999999",
        };
        gsize at = pick(random, input->len), end;

        while (at < input->len && !g_ascii_isdigit(input->str[at]))
                at++;
        for (end = at; end < input->len && g_ascii_isdigit(input->str[end]);)
                end++;
        g_string_erase(input, (gssize) at, (gssize) (end - at));
        if (end > at)
                g_string_insert(input, (gssize) at, numbers[pick(random, G_N_ELEMENTS(numbers))]);
}

static void vary(GString *input, GRand *random, const GString *other) {
        static void (*const ways[])(GString *input, GRand *random, const GString *other) = {
                cut, flip_bit, set_character, set_character, erase, repeat, insert_other, set_number,
        };

        for (gsize n = 1 + pick(random, 3); n > 0; n--)
                ways[pick(random, G_N_ELEMENTS(ways))](input, random, other);
}

typedef struct File {
        char *path;
        GString *text;
} File;

static void run_file(const GArray *files, guint i, guint n_variations) {
        const File *file = &g_array_index(files, File, i);
        g_autoptr(GRand) random = g_rand_new_with_seed(1 + i);

        current.path = file->path;
        current.variation = 0;
        run(file->text);
        for (current.variation = 1; current.variation <= n_variations; current.variation++) {
                g_autoptr(GString) input = g_string_new_len(file->text->str, (gssize) file->text->len);

                vary(input, random, g_array_index(files, File, pick(random, files->len)).text);
                run(input);
        }
}

static GPtrArray *list_directory(const char *path) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        const char *name;

        require(dir, "there is no directory '%s'", path);
        while ((name = g_dir_read_name(dir)))
                g_ptr_array_add(names, g_build_filename(path, name, NULL));
        g_ptr_array_sort(names, string_order);
        return g_steal_pointer(&names);
}

/* Links are left out: some lead nowhere. */
static void add_files(GArray *files, const char *path) {
        struct stat st;

        if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
                g_autoptr(GPtrArray) entries = list_directory(path);

                for (guint i = 0; i < entries->len; i++)
                        add_files(files, entries->pdata[i]);
        } else if (S_ISREG(st.st_mode)) {
                File file = { .path = g_strdup(path) };
                g_autofree char *text = NULL;
                gsize size;

                require(g_file_get_contents(path, &text, &size, NULL), "cannot read '%s'", path);
                file.text = g_string_new_len(text, (gssize) size);
                g_array_append_val(files, file);
        }
}

static void clear_file(void *data) {
        g_free(((File *) data)->path);
        g_string_free(((File *) data)->text, TRUE);
}

/* Those of the corpus are a test each, all others one. */
int main(int argc, char **argv) {
        g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(File));
        guint n_corpus, n_variations;

        if (argc < 2) {
                fprintf(stderr, "usage: %s CORPUS [SEEDS...]\n", argv[0]);
                return EXIT_FAILURE;
        }
        current.program = g_path_get_basename(argv[0]);
        (void) signal(SIGABRT, on_signal);
        (void) signal(SIGTRAP, on_signal);
        g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING);
        g_array_set_clear_func(files, clear_file);
        add_files(files, argv[1]);
        n_corpus = files->len;
        for (int i = 2; i < argc; i++)
                add_files(files, argv[i]);
        require(n_corpus > 0, "the corpus '%s' is empty", argv[1]);
        n_variations = MAX(INPUTS / files->len, 16);
        printf("1..%u\n", n_corpus + (files->len > n_corpus));
        for (guint i = 0; i < files->len; i++) {
                run_file(files, i, n_variations);
                if (i < n_corpus)
                        printf("ok %u - %s\n", i + 1, strrchr(g_array_index(files, File, i).path, '/') + 1);
                (void) fflush(stdout);
        }
        if (files->len > n_corpus)
                printf("ok %u - %u files of other tests\n", n_corpus + 1, files->len - n_corpus);
        return EXIT_SUCCESS;
}
