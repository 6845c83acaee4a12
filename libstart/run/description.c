/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/hook/oci-hooks.h"
#include "libstart/oci/environment.h"
#include "libstart/oci/spec-process.h"
#include "libstart/run/description.h"

/* Podman's is the begin of an id that a container has only once. Transfer full. */
static char *make_uuid(void) {
        g_autofree char *random = g_uuid_string_random();
        g_auto(GStrv) parts = g_strsplit(random, "-", -1);

        return g_strjoinv("", parts);
}

/* As it is named, which whoever mounts it checks like any source; or catatonit, where Podman looks for it: its
 * helper_binaries_dir, and what it has of $PATH. Transfer full. */
static char *find_init_program(const ContainerRequest *request, GError **error) {
        static const char *const places[] = {
                "/usr/local/libexec/podman", "/usr/local/lib/podman", "/usr/libexec/podman",
                "/usr/lib/podman",           "/usr/local/bin",        "/usr/bin",
        };

        if (request->init_path)
                return g_strdup(request->init_path);
        for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
                g_autofree char *path = g_build_filename(places[i], "catatonit", NULL);

                if (access(path, X_OK) == 0)
                        return g_steal_pointer(&path);
        }
        return error_null(
                error, KT_ERROR_NOT_FOUND,
                "There is no catatonit on this machine, which is to be the payload's init: install the package "
                "'catatonit', or name another program with --init-path= (in a file, PodmanArgs=--init-path=)");
}

/* What an init needs that other payloads do not. */
static bool find_init(SpecInput *input, GPtrArray *owned, GError **error) {
        char *program = NULL, *uuid = NULL;

        if (input->request->init) {
                program = find_init_program(input->request, error);
                if (!program)
                        return false;
                g_ptr_array_add(owned, program);
        }
        if (input->payload->is_systemd) {
                uuid = make_uuid();
                g_ptr_array_add(owned, uuid);
        }
        input->init_program = program;
        input->uuid = uuid;
        return true;
}

/* What the specification needs beside the environment's files. */
static bool find_rest(SpecInput *input, Host *host, Description *ret, GError **error) {
        return spec_find_capabilities(input->request, input->image, input->host, &ret->capabilities, error) &&
               find_init(input, ret->files.owned, error) && host_find_devices(host, input->request, error) &&
               cdi_devices_find(input->request, &ret->cdi, error) &&
               cdi_devices_add_nodes(&ret->cdi, input->user->uid, input->user->gid, host->facts.device_nodes, error);
}

static void log_left_out(const MountPlan *mounts) {
        for (guint i = 0; i < mounts->left_out->len; i++)
                log_notice("The image's VOLUME '%s' is left out: what is there in every container stays",
                           (const char *) mounts->left_out->pdata[i]);
}

bool description_make(SpecInput *input, Host *host, Description *ret, GError **error) {
        const EnvironmentFiles *files = &ret->files;

        if (!environment_files_read(input->request, &ret->files, error) || !find_rest(input, host, ret, error))
                return false;
        input->capabilities = ret->capabilities;
        input->cdi = ret->cdi.edits;
        input->env_files = files->contents;
        input->env_list = files->list;
        input->env_list_length = files->list_length;
        ret->environment = environment_build(input, files->owned, error);
        if (!ret->environment)
                return false;
        ret->spec = spec_build(input, &ret->mounts, error);
        if (!ret->spec)
                return false;
        log_left_out(ret->mounts);
        cdi_devices_apply(&ret->cdi, ret->mounts, ret->spec);
        return true;
}

bool description_apply_hooks(Description *description, const ContainerRequest *request, const char *bundle,
                             GError **error) {
        const OciHooks hooks = {
                .request = request,
                .mounts = description->mounts,
                .cdi = description->cdi.edits,
                .bundle = bundle,
        };

        return oci_hooks_apply(&hooks, &description->spec, &description->environment, error);
}

void description_clear(Description *description) {
        cdi_devices_clear(&description->cdi);
        g_free(description->environment);
        mount_plan_free(description->mounts);
        free_runtime_spec_schema_config_schema(description->spec);
        environment_files_clear(&description->files);
}
