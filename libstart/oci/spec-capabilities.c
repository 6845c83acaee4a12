/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/bounding-set.h"
#include "libstart/option/capability.h"

#define LABEL "io.containers.capabilities"

/* The container's own label wins over the image's. */
static const char *find_label(const LaunchArgs *args, const ImageConfig *image) {
        for (guint i = args->labels->len; i-- > 0;) {
                const char *label = args->labels->pdata[i];

                if (g_str_has_prefix(label, LABEL "="))
                        return label + strlen(LABEL "=");
        }
        return image_config_find_label(image, LABEL);
}

/* A label narrows the set to what the image needs. One that asks for more than there is changes nothing,
 * as in podman: it must not be a way for an image to get more. */
static bool narrow(const LaunchArgs *args, const ImageConfig *image, guint64 *mask, GError **error) {
        const char *label = find_label(args, image);
        guint64 needed = 0;

        if (!label || !*label)
                return true;
        if (!capability_parse(label, &needed, error)) {
                g_prefix_error(error, "label " LABEL ": ");
                return false;
        }
        if (needed & ~*mask)
                log_debug("label " LABEL "='%s' asks for more than the container has, and changes nothing", label);
        else
                *mask = needed;
        return true;
}

bool spec_find_capabilities(const LaunchArgs *args, const ImageConfig *image, const HostFacts *host,
                            guint64 *ret_bounding, GError **error) {
        guint64 mask;

        if (!bounding_set_find(args, host->bounding_caps, &mask, error) || !narrow(args, image, &mask, error))
                return false;
        *ret_bounding = mask;
        return true;
}

static void set_names(guint64 mask, char ***names, size_t *length) {
        if (mask == 0)
                return;
        *names = g_new0(char *, CAPABILITY_COUNT + 1);
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (mask >> i & 1)
                        (*names)[(*length)++] = g_strdup(capability_name(i));
}

bool spec_add_capabilities(Spec *spec, const SpecInput *input, GError **error) {
        guint64 bounding = 0, added = 0, dropped = 0;

        if (!spec_find_capabilities(input->args, input->image, input->host, &bounding, error) ||
            !bounding_set_find_asked(input->args, &added, &dropped, error))
                return false;

        runtime_spec_schema_config_schema_process_capabilities *caps = g_new0(typeof(*caps), 1);
        spec->process->capabilities = caps;
        set_names(bounding, &caps->bounding, &caps->bounding_len);
        if (input->user->uid == 0) {
                set_names(bounding, &caps->effective, &caps->effective_len);
                set_names(bounding, &caps->permitted, &caps->permitted_len);
                return true;
        }
        /* Anyone but root has only what was asked for by name, and keeps it across execve(2). */
        added &= bounding;
        set_names(added, &caps->effective, &caps->effective_len);
        set_names(added, &caps->permitted, &caps->permitted_len);
        set_names(added, &caps->inheritable, &caps->inheritable_len);
        set_names(added, &caps->ambient, &caps->ambient_len);
        return true;
}
