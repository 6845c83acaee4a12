/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* print-spec
 *
 * For command lines of `libstart run` (words ended by NUL, the lines by an empty word; from standard input) the OCI
 * runtime spec of each, or why there is none. The machine and the image are those of build-spec.h. */
#include <check.h>
#include <stdio.h>

#include "tests/unit/oci/build-spec.h"

static void print_spec(const char *const *words) {
        g_auto(SpecCase) c = spec_case();
        char *environment[] = { (char *) "A=1", (char *) "B=", NULL };
        g_autoptr(GError) error = NULL;
        g_autoptr(Spec) spec = build_spec(&c, words, &error);
        g_autofree char *json = spec ? spec_to_json(spec, environment, &error) : NULL;

        puts(json ? json : error->message);
}

int main(void) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        char *word = NULL;
        size_t size = 0;

        while (getdelim(&word, &size, '\0', stdin) > 0)
                if (word[0])
                        g_ptr_array_add(words, g_strdup(word));
                else {
                        g_ptr_array_add(words, NULL);
                        print_spec((const char *const *) words->pdata);
                        g_ptr_array_set_size(words, 0);
                }
        free(word);
        return 0;
}
