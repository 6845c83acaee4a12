/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "libstart/store/image-cache.h"

/* Finds an image and prints all that was found, for tests and measurements.
 *
 * usage: find-image ROOT REFERENCE            without the cache
 *        find-image ROOT REFERENCE DIR        with the cache in DIR
 *        find-image ROOT REFERENCE DIR COUNT  as often as that, DIR may be ""; prints the time of one in ns
 *
 * Exit status: 0, or 1 with the error's code and message on stderr. */

static StoreImage *find(const char *root, const char *reference, const char *run_dir, GError **error) {
        g_autoptr(StoreConf) conf = NULL;

        if (*run_dir)
                return store_image_find_cached(run_dir, root, reference, error);
        conf = store_conf_load(root, error);
        return conf ? store_image_find(conf, reference, NULL, error) : NULL;
}

static void print(const StoreImage *image) {
        printf("id %s\ndigest %s\nname %s\nstore %s\nwritable %d\n", image->id, image->digest, image->name,
               image->store, image->writable_store);
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
        if (argc < 3 || argc > 5)
                return 2;

        const char *run_dir = argc > 3 ? argv[3] : "";
        int count = argc > 4 ? atoi(argv[4]) : 1;
        gint64 start = now();

        for (int i = 0; i < count; i++) {
                g_autoptr(GError) error = NULL;
                g_autoptr(StoreImage) image = find(argv[1], argv[2], run_dir, &error);

                if (!image) {
                        fprintf(stderr, "%d %s\n", error->code, error->message);
                        return 1;
                }
                if (argc < 5)
                        print(image);
        }
        if (argc > 4)
                printf("%" G_GINT64_FORMAT "\n", (now() - start) / count);
        return 0;
}
