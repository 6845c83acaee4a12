/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <libcrun/container.h>
#include <libcrun/status.h>

#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/runtime/runtime-peer.h"
#include "libstart/runtime/runtime.h"

#define PODMANS_STATES "/run/crun" /* of root's containers */

/* The state is in the only directory that does not begin with a dot. Transfer full; NULL: there is none. */
static char *find_id(const char *state_root) {
        g_autoptr(GDir) directory = g_dir_open(state_root, 0, NULL);
        const char *name;

        while (directory && (name = g_dir_read_name(directory)))
                if (name[0] != '.' && runtime_is_running(state_root, name))
                        return g_strdup(name);
        return NULL;
}

static void read_network(const runtime_spec_schema_config_schema *spec, RunningContainer *ret) {
        for (size_t i = 0; spec->linux && i < spec->linux->namespaces_len; i++)
                if (g_strcmp0(spec->linux->namespaces[i]->type, "network") == 0) {
                        ret->has_network = true;
                        ret->network_path = g_strdup(spec->linux->namespaces[i]->path);
                }
}

static bool read_state(RunningContainer *ret, libcrun_error_t *err) {
        g_autofree char *config = g_build_filename(ret->state_root, ret->id, "config.json", NULL);
        libcrun_container_status_t status = { 0 };
        libcrun_container_t *crun;

        if (libcrun_read_container_status(&status, ret->state_root, ret->id, err) < 0)
                return false;
        ret->pid = status.pid;
        libcrun_free_container_status(&status);
        crun = libcrun_container_load_from_file(config, err);
        if (!crun)
                return false;
        read_network(crun->container_def, ret);
        libcrun_container_free(crun);
        return true;
}

static bool read_running(RunningContainer *ret, GError **error) {
        libcrun_error_t err = NULL;

        if (read_state(ret, &err))
                return true;
        error_set(error, KT_ERROR_FAILED, "%s", err ? err->msg : "its state cannot be read");
        if (err)
                libcrun_error_release(&err);
        return false;
}

bool runtime_find_running(const char *unit, RunningContainer *ret, GError **error) {
        ret->state_root = g_build_filename(PATH_RUN, unit, NULL);
        ret->id = find_id(ret->state_root);
        return ret->id ? read_running(ret, error) :
                         error_set(error, KT_ERROR_NOT_FOUND, "no container runs there: start it first");
}

bool runtime_find_podmans(const char *id, RunningContainer *ret, GError **error) {
        ret->state_root = g_strdup(PODMANS_STATES);
        ret->id = g_strdup(id);
        return runtime_is_running(ret->state_root, id) ?
                       read_running(ret, error) :
                       error_set(error, KT_ERROR_NOT_FOUND,
                                 "it does not run, or not by crun: start it first (After= its service)");
}

void running_container_clear(RunningContainer *container) {
        g_free(container->state_root);
        g_free(container->id);
        g_free(container->network_path);
}
