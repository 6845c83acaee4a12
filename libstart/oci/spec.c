/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/oci/hostname.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/annotation.h"
#include "libstart/option/signal-name.h"

#define OCI_VERSION "1.2.0" /* of the runtime spec, as Podman 5.4 writes it */

char **spec_copy_strings(const char *const *strings, size_t *ret_length) {
        *ret_length = strings ? g_strv_length((char **) strings) : 0;
        return *ret_length ? g_strdupv((char **) strings) : NULL;
}

static void set_annotation(Spec *spec, const char *assignment, size_t key_length) {
        g_autofree char *key = g_strndup(assignment, key_length);

        append_json_map_string_string(spec->annotations, key,
                                      assignment[key_length] ? assignment + key_length + 1 : "");
}

/* As Podman records it: by number. Who stops the container is systemd, by KillSignal=. */
static bool add_stop_signal(Spec *spec, const SpecInput *input, GError **error) {
        const char *name = input->args->stop_signal ?: input->image->stop_signal;
        char text[16];
        int number = SIGTERM;

        if (name && !signal_name_parse(name, &number, error)) {
                g_prefix_error(error, input->args->stop_signal ? "--stop-signal: " : "the image's STOPSIGNAL: ");
                return false;
        }
        g_snprintf(text, sizeof text, "%d", number);
        append_json_map_string_string(spec->annotations, "org.opencontainers.image.stopSignal", text);
        return true;
}

/* The stop signal, labels, annotations: what is later wins. The image's own labels stay out. */
bool spec_add_annotations(Spec *spec, const SpecInput *input, GError **error) {
        const LaunchArgs *args = input->args;

        spec->annotations = g_new0(json_map_string_string, 1);
        if (!add_stop_signal(spec, input, error))
                return false;
        for (guint i = 0; i < args->labels->len; i++) {
                const char *label = args->labels->pdata[i];

                /* To podman a label is no annotation, so that one of these names does nothing. */
                if (!annotation_is_reserved(label))
                        set_annotation(spec, label, strcspn(label, "="));
        }
        for (guint i = 0; i < args->annotations->len; i++) {
                const char *annotation = args->annotations->pdata[i];

                if (!annotation_check(annotation, error))
                        return false;
                set_annotation(spec, annotation, strcspn(annotation, "="));
        }
        return true;
}

static void add_root(Spec *spec, const SpecInput *input) {
        spec->root = g_new0(typeof(*spec->root), 1);
        spec->root->path = g_strdup(input->host->rootfs_mount);
        spec->root->readonly = input->args->read_only == FLAG_TRUE;
        spec->root->readonly_present = spec->root->readonly;
}

runtime_spec_schema_config_schema *spec_build(const LaunchArgs *args, const ImageConfig *image,
                                              const UserIdentity *user, const HostFacts *host,
                                              const char *const *environment, const GPtrArray *file_mounts,
                                              GError **error) {
        g_autoptr(runtime_spec_schema_config_schema) spec = g_new0(runtime_spec_schema_config_schema, 1);
        const SpecInput input = {
                .args = args,
                .image = image,
                .user = user,
                .host = host,
                .environment = environment,
                .file_mounts = file_mounts,
        };

        spec->oci_version = g_strdup(OCI_VERSION);
        spec->hostname = hostname_choose(args, host);
        add_root(spec, &input);
        if (!spec_add_process(spec, &input, error) || !spec_add_capabilities(spec, &input, error) ||
            !spec_add_rlimits(spec, &input, error) || !spec_add_mounts(spec, &input, error) ||
            !spec_add_linux(spec, &input, error) || !spec_add_annotations(spec, &input, error))
                return NULL;
        return g_steal_pointer(&spec);
}
