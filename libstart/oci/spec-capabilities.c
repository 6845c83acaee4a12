/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/capability.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/oci/spec-parts.h"

#define LABEL "io.containers.capabilities"

/* Podman's. */
static const char default_capabilities[] =
        "CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,NET_BIND_SERVICE,SETFCAP,SETGID,SETPCAP,SETUID,SYS_CHROOT";

static bool parse_list(const GPtrArray *list, guint64 *ret, GError **error) {
        guint64 mask = 0;

        for (guint i = 0; i < list->len; i++) {
                guint64 one = 0;

                if (!capability_parse(list->pdata[i], &one, error))
                        return false;
                mask |= one;
        }
        *ret = mask;
        return true;
}

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
                log_debug("label " LABEL "='%s' asks for more than the container has, and changes nothing",
                          label);
        else
                *mask = needed;
        return true;
}

static bool find_asked(const LaunchArgs *args, guint64 *ret_added, guint64 *ret_dropped, GError **error) {
        guint64 both;

        if (!parse_list(args->cap_add, ret_added, error) || !parse_list(args->cap_drop, ret_dropped, error))
                return false;
        if (*ret_added == CAPABILITY_ALL && *ret_dropped == CAPABILITY_ALL)
                return error_set(error, KT_ERROR_USAGE, "all capabilities are both added and dropped");
        if (*ret_added == CAPABILITY_ALL || *ret_dropped == CAPABILITY_ALL)
                return true; /* "all but these" */
        both = *ret_added & *ret_dropped;
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (both >> i & 1)
                        return error_set(error, KT_ERROR_USAGE, "capability '%s' is both added and dropped",
                                         capability_name(i));
        return true;
}

bool spec_find_capabilities(const LaunchArgs *args, const ImageConfig *image, const HostFacts *host,
                            guint64 *ret_bounding, GError **error) {
        guint64 mask = 0, added = 0, dropped = 0;

        if (!capability_parse(default_capabilities, &mask, error) ||
            !find_asked(args, &added, &dropped, error))
                return false;
        mask = dropped == CAPABILITY_ALL ? added : (mask | added) & ~dropped;
        mask &= host->bounding_caps;
        if (!narrow(args, image, &mask, error))
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
            !find_asked(input->args, &added, &dropped, error))
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
