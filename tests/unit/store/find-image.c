/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <time.h>

#include "libstart/store/image.h"

/* Finds an image and prints all that was found, for tests and measurements.
 *
 * usage: find-image ROOT REFERENCE
 *        find-image ROOT REFERENCE COUNT   as often as that; prints only how long one search takes, in ns
 *
 * Exit status: 0, or 1 with the error's code and message on stderr. */

static void print(const StoreImage *image) {
        printf("id %s\nname %s\nstore %s\nwritable %d\n", image->id, image->name, image->store,
               image->writable_store);
        for (char **layer = image->layers; *layer; layer++)
                printf("layer %s\n", *layer);
        printf("config %s\n", image->config);
}

static gint64 now(void) {
        struct timespec ts;

        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (gint64) ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int main(int argc, char **argv) {
        if (argc < 3 || argc > 4)
                return 2;

        guint64 count = 1;

        if (argc > 3 && !g_ascii_string_to_unsigned(argv[3], 10, 1, G_MAXINT32, &count, NULL))
                return 2;
        gint64 start = now();

        for (guint64 i = 0; i < count; i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(StoreImage) image = store_image_find(argv[1], argv[2], NULL, &error);

                if (!image) {
                        fprintf(stderr, "%d %s\n", error->code, error->message);
                        return 1;
                }
                if (argc < 4)
                        print(image);
        }
        if (argc > 3)
                printf("%" G_GINT64_FORMAT "\n", (now() - start) / (gint64) count);
        return 0;
}
