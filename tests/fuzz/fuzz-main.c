/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Runs a fuzzer's one function on files, or on every file of a directory: what a fuzzer has found once is
 * an ordinary test from then on. Each is also cut short and has bits flipped, so that a corpus of a few
 * good inputs is worth something. Prints TAP. */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CUTS 64
#define FLIPS 512

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In memory of its own, so that a sanitizer sees the first byte that is read behind its end. */
static void run_copy(const char *data, gsize size) {
        char *copy = g_memdup2(data, size);

        (void) LLVMFuzzerTestOneInput((const uint8_t *) (copy ? copy : ""), size);
        g_free(copy);
}

static void run_file(const char *path) {
        g_autofree char *data = NULL;
        g_autoptr(GError) error = NULL;
        g_autoptr(GRand) random = g_rand_new_with_seed(1);
        gsize size;

        if (!g_file_get_contents(path, &data, &size, &error))
                g_error("%s", error->message);
        run_copy(data, size);
        for (gsize i = 0; size > 0 && i < CUTS; i++)
                run_copy(data, (gsize) g_rand_int_range(random, 0, (gint32) size));
        for (gsize i = 0; size > 0 && i < FLIPS; i++) {
                gsize at = (gsize) g_rand_int_range(random, 0, (gint32) size);
                char bit = (char) (1 << g_rand_int_range(random, 0, 8));

                data[at] = (char) (data[at] ^ bit);
                run_copy(data, size);
                data[at] = (char) (data[at] ^ bit);
        }
}

static int compare(gconstpointer a, gconstpointer b) {
        return g_strcmp0(*(const char *const *) a, *(const char *const *) b);
}

int main(int argc, char **argv) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) dir = argc == 2 ? g_dir_open(argv[1], 0, NULL) : NULL;
        const char *name;

        if (!dir) {
                fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
                return EXIT_FAILURE;
        }
        while ((name = g_dir_read_name(dir)))
                g_ptr_array_add(names, g_build_filename(argv[1], name, NULL));
        g_ptr_array_sort(names, compare);
        printf("1..%u\n", names->len);
        for (guint i = 0; i < names->len; i++) {
                run_file(names->pdata[i]);
                printf("ok %u - %s\n", i + 1, strrchr(names->pdata[i], '/') + 1);
                (void) fflush(stdout);
        }
        return EXIT_SUCCESS;
}
