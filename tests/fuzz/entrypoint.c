/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/payload-args.h"
#include "tests/fuzz/fuzz.h"

/* There is something to run, or an error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size);
        ImageConfig *image = g_new0(ImageConfig, 1);
        const GPtrArray none = { 0 };
        const ContainerRequest request = { .entrypoint = text, .command = &none };
        g_autoptr(GError) error = NULL;

        image->cmd = g_strsplit("from the image", " ", -1);
        g_auto(GStrv) words = payload_args_build(&request, image, &error);
        require_error(words, error, text);
        require(!words || words[0], "no words");
        image_config_free(image);
        return 0;
}
