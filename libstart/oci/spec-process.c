/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/oci/spec-process.h"
#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/request/launch-args.h"
#include "libstart/value/capability.h"
#include "libstart/value/ulimit.h"

#define LABEL "io.containers.capabilities"
#define DEFAULT_LIMIT 1048576 /* Podman's, for open files and for processes */

typedef runtime_spec_schema_config_schema_process Process;
typedef runtime_spec_schema_config_schema_process_rlimits_element Limit;

static runtime_spec_schema_config_schema_process_user *make_user(const UserIdentity *identity, guint32 umask) {
        runtime_spec_schema_config_schema_process_user *user = g_new0(typeof(*user), 1);
        const GArray *gids = identity->additional_gids;

        user->uid = identity->uid;
        user->gid = identity->gid;
        user->umask = umask;
        user->uid_present = user->gid_present = user->umask_present = true;
        if (gids->len > 0) {
                user->additional_gids = g_memdup2(gids->data, gids->len * sizeof(gid_t));
                user->additional_gids_len = gids->len;
        }
        return user;
}

/* The container's own label wins over the image's. */
static const char *find_label(const ContainerRequest *request, const ImageConfig *image) {
        return launch_args_last(request->labels, LABEL) ?: image_config_find_label(image, LABEL);
}

/* A label narrows the set to what the image needs. One that asks for more than there is changes nothing,
 * as in podman: it must not be a way for an image to get more. */
static bool narrow(const ContainerRequest *request, const ImageConfig *image, guint64 *mask, GError **error) {
        const char *label = find_label(request, image);
        guint64 needed = 0;

        if (!label || !*label)
                return true;
        if (!capability_add(label, &needed, error))
                return error_prefix(error, "Label " LABEL ": ");
        if (needed & ~*mask)
                log_debug("label " LABEL "='%s' asks for more than the container has, and changes nothing", label);
        else
                *mask = needed;
        return true;
}

bool spec_find_capabilities(const ContainerRequest *request, const ImageConfig *image, const HostFacts *host,
                            guint64 *ret_bounding, GError **error) {
        *ret_bounding = bounding_set_find(request->privileged, request->cap_added, request->cap_dropped,
                                          host->bounding_caps);
        /* Privileged, as with Podman, whatever a label says; but Podman drops nothing. */
        return request->privileged || narrow(request, image, ret_bounding, error);
}

static void set_names(guint64 mask, char ***names, size_t *length) {
        if (mask == 0)
                return;
        *names = g_new0(char *, CAPABILITY_COUNT + 1);
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (mask >> i & 1)
                        (*names)[(*length)++] = g_strdup(capability_name(i));
}

static void add_capabilities(Process *process, const SpecInput *input) {
        runtime_spec_schema_config_schema_process_capabilities *caps = g_new0(typeof(*caps), 1);
        guint64 bounding = input->capabilities, added = bounding & input->request->cap_added;

        process->capabilities = caps;
        set_names(bounding, &caps->bounding, &caps->bounding_len);
        if (input->user->uid == 0) {
                set_names(bounding, &caps->effective, &caps->effective_len);
                set_names(bounding, &caps->permitted, &caps->permitted_len);
                return;
        }
        /* Anyone but root has only what was asked for by name, and keeps it across execve(2). */
        set_names(added, &caps->effective, &caps->effective_len);
        set_names(added, &caps->permitted, &caps->permitted_len);
        set_names(added, &caps->inheritable, &caps->inheritable_len);
        set_names(added, &caps->ambient, &caps->ambient_len);
}

static Limit *find_limit(const Process *process, const char *type) {
        for (size_t i = 0; i < process->rlimits_len; i++)
                if (g_str_equal(process->rlimits[i]->type, type))
                        return process->rlimits[i];
        return NULL;
}

static void set_limit(Process *process, const char *type, guint64 soft, guint64 hard) {
        Limit *limit = find_limit(process, type);

        if (!limit) {
                limit = g_new0(Limit, 1);
                limit->type = g_strdup(type);
                process->rlimits[process->rlimits_len++] = limit;
        }
        limit->soft = soft;
        limit->hard = hard;
        limit->soft_present = limit->hard_present = true;
}

/* The limit that Podman would set: it raises its own limits first, and where it may not it takes what it has. */
static void set_default_limit(Process *process, const char *type, guint64 own_hard, bool can_raise) {
        guint64 limit = can_raise ? DEFAULT_LIMIT : MIN(DEFAULT_LIMIT, own_hard);

        if (!find_limit(process, type))
                set_limit(process, type, limit, limit);
}

static void add_limits(Process *process, const SpecInput *input) {
        const HostFacts *host = input->host;
        const GArray *ulimits = input->request->ulimits;

        if (input->request->host_limits)
                return; /* without limits in the spec, those of the unit stay */
        process->rlimits = g_new0(Limit *, ulimits->len + 2);
        for (guint i = 0; i < ulimits->len; i++) {
                const Ulimit *ulimit = &g_array_index(ulimits, Ulimit, i);

                set_limit(process, ulimit->type, ulimit->soft, ulimit->hard);
        }
        set_default_limit(process, "RLIMIT_NOFILE", host->nofile_hard,
                          host->can_raise_limits && (host->nr_open == 0 || host->nr_open >= DEFAULT_LIMIT));
        set_default_limit(process, "RLIMIT_NPROC", host->nproc_hard, host->can_raise_limits);
}

void spec_add_process(runtime_spec_schema_config_schema *spec, const SpecInput *input) {
        Process *process = spec->process = g_new0(Process, 1);

        process->cwd = g_strdup(input->request->workdir ?: input->image->working_dir ?: "/");
        process->user = make_user(input->user, input->request->umask);
        process->args = g_strdupv(input->payload->args);
        process->args_len = g_strv_length(process->args);
        process->no_new_privileges = input->request->no_new_privileges;
        process->no_new_privileges_present = process->no_new_privileges;
        process->selinux_label = input->labels ? g_strdup(input->labels->process) : NULL;
        process->apparmor_profile = g_strdup(input->request->apparmor);
        add_capabilities(process, input);
        add_limits(process, input);
}
