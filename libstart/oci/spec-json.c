/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "libstart/base/error.h"
#include "libstart/oci/spec.h"

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(yajl_gen, yajl_gen_free, NULL)

static bool set_error(parser_error message, GError **error) {
        error_set(error, KT_ERROR_FAILED, "the OCI spec cannot be written as JSON: %s",
                  message ? g_strchomp(message) : "unknown reason");
        free(message);
        return false;
}

/* An environment may hold any bytes. */
char *spec_to_json(const runtime_spec_schema_config_schema *spec, GError **error) {
        const struct parser_context context = { .options = OPT_GEN_NO_VALIDATE_UTF8, .errfile = stderr };
        parser_error message = NULL;
        char *json = runtime_spec_schema_config_schema_generate_json(spec, &context, &message);

        if (!json)
                set_error(message, error);
        return json;
}

typedef struct Output {
        int fd;
        int errnum; /* of the first write that failed */
        size_t length;
        char block[16384];
} Output;

static void flush(Output *output) {
        const char *text = output->block;

        while (output->length > 0 && output->errnum == 0) {
                ssize_t n = write(output->fd, text, output->length);

                if (n < 0) {
                        output->errnum = errno;
                        return;
                }
                text += n;
                output->length -= (size_t) n;
        }
}

static void print(void *data, const char *text, size_t length) {
        Output *output = data;

        while (length > 0 && output->errnum == 0) {
                size_t n = MIN(length, sizeof output->block - output->length);

                memcpy(output->block + output->length, text, n);
                output->length += n;
                text += n;
                length -= n;
                if (output->length == sizeof output->block)
                        flush(output);
        }
}

bool spec_write_json(const runtime_spec_schema_config_schema *spec, int fd, GError **error) {
        const struct parser_context context = { .options = OPT_GEN_SIMPLIFY | OPT_GEN_NO_VALIDATE_UTF8 };
        g_auto(yajl_gen) generator = yajl_gen_alloc(NULL);
        Output output; /* not all of it to be cleared: that would touch each of its pages */
        parser_error message = NULL;

        output.fd = fd;
        output.errnum = 0;
        output.length = 0;

        yajl_gen_config(generator, yajl_gen_print_callback, print, &output);
        if (gen_runtime_spec_schema_config_schema(generator, spec, &context, &message) != yajl_gen_status_ok)
                return set_error(message, error);
        flush(&output);
        return output.errnum == 0 || error_set_errno(error, output.errnum, "Cannot write the OCI spec");
}
