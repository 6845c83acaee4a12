/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_gen.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/oci/spec-linux.h"
#include "libstart/oci/spec-mounts.h"
#include "libstart/oci/spec-process.h"
#include "libstart/oci/spec.h"
#include "libstart/value/annotation.h"

G_DEFINE_AUTO_CLEANUP_FREE_FUNC(yajl_gen, yajl_gen_free, NULL)

#define OCI_VERSION "1.2.0" /* of the runtime spec, as Podman 5.4 writes it */

typedef runtime_spec_schema_config_schema Spec;

/* The spec owns all that it is given, and frees it with free(3). GLib's memory is that (g_malloc() is malloc() since
 * GLib 2.46). */

static void set_annotation(Spec *spec, const char *assignment) {
        size_t key_length = strcspn(assignment, "=");
        g_autofree char *key = g_strndup(assignment, key_length);

        append_json_map_string_string(spec->annotations, key,
                                      assignment[key_length] ? assignment + key_length + 1 : "");
}

/* As Podman records it: by number. */
static void add_stop_signal(Spec *spec, int number) {
        char text[16];

        g_snprintf(text, sizeof text, "%d", number);
        append_json_map_string_string(spec->annotations, "org.opencontainers.image.stopSignal", text);
}

/* The stop signal, labels, annotations: what is later wins. The image's own labels stay out. */
static void add_annotations(Spec *spec, const SpecInput *input) {
        const GPtrArray *labels = input->request->labels, *annotations = input->request->annotations;

        spec->annotations = g_new0(json_map_string_string, 1);
        add_stop_signal(spec, input->payload->stop_signal);
        for (guint i = 0; i < labels->len; i++)
                if (!annotation_is_reserved(labels->pdata[i])) /* to podman it is no annotation, and does nothing */
                        set_annotation(spec, labels->pdata[i]);
        for (guint i = 0; i < annotations->len; i++)
                set_annotation(spec, annotations->pdata[i]);
        if (input->request->keep_groups && input->request->runtime) /* libcrun is told by libstart itself */
                append_json_map_string_string(spec->annotations, "run.oci.keep_original_groups", "1");
        if (input->image_id)
                append_json_map_string_string(spec->annotations, SPEC_IMAGE_ID, input->image_id);
}

static void add_root(Spec *spec, const SpecInput *input) {
        spec->root = g_new0(typeof(*spec->root), 1);
        spec->root->path = g_strdup(input->root);
        spec->root->readonly = input->request->read_only;
        spec->root->readonly_present = spec->root->readonly;
}

Spec *spec_build(const SpecInput *input, MountPlan **ret_mounts, GError **error) {
        g_autoptr(runtime_spec_schema_config_schema) spec = g_new0(Spec, 1);
        g_autoptr(MountPlan) mounts = spec_plan_mounts(input, error);

        spec->oci_version = g_strdup(OCI_VERSION);
        if (!input->request->uts.path && !input->request->uts.host) /* else the namespace has it */
                spec->hostname = g_strdup(input->hostname);
        add_root(spec, input);
        spec_add_process(spec, input);
        if (!mounts || !spec_add_linux(spec, input, mounts, error))
                return NULL;
        mount_plan_print(mounts, spec);
        add_annotations(spec, input);
        if (ret_mounts)
                *ret_mounts = g_steal_pointer(&mounts);
        return g_steal_pointer(&spec);
}

static bool set_error(parser_error message, GError **error) {
        error_set(error, KT_ERROR_FAILED, "The OCI spec cannot be written as JSON: %s",
                  message ? g_strchomp(message) : "unknown reason");
        free(message);
        return false;
}

/* With the environment in it. Shallow copies. */
typedef struct Whole {
        Spec spec;
        runtime_spec_schema_config_schema_process process;
} Whole;

static const Spec *complete(const Spec *spec, char **environment, Whole *ret) {
        *ret = (Whole) { .spec = *spec, .process = *spec->process };
        ret->process.env = environment;
        ret->process.env_len = g_strv_length(environment);
        ret->spec.process = &ret->process;
        return &ret->spec;
}

/* An environment may hold any bytes. */
char *spec_to_json(const Spec *spec, char **environment, GError **error) {
        const struct parser_context context = { .options = OPT_GEN_NO_VALIDATE_UTF8, .errfile = stderr };
        parser_error message = NULL;
        Whole whole;
        char *json = runtime_spec_schema_config_schema_generate_json(complete(spec, environment, &whole), &context,
                                                                     &message);

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
        if (output->errnum == 0 && !fd_write_all(output->fd, output->block, output->length))
                output->errnum = errno;
        output->length = 0;
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

bool spec_write_json(const Spec *spec, char **environment, int fd, GError **error) {
        const struct parser_context context = { .options = OPT_GEN_SIMPLIFY | OPT_GEN_NO_VALIDATE_UTF8 };
        g_auto(yajl_gen) generator = yajl_gen_alloc(NULL);
        Output output; /* not all of it to be cleared: that would touch each of its pages */
        parser_error message = NULL;
        Whole whole;

        output.fd = fd;
        output.errnum = 0;
        output.length = 0;

        yajl_gen_config(generator, yajl_gen_print_callback, print, &output);
        if (gen_runtime_spec_schema_config_schema(generator, complete(spec, environment, &whole), &context,
                                                  &message) != yajl_gen_status_ok)
                return set_error(message, error);
        flush(&output);
        return output.errnum == 0 || error_set_errno(error, output.errnum, "Cannot write the OCI spec");
}
