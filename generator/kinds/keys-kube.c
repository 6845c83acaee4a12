/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/kinds/install.h"
#include "generator/kinds/keys-kube.h"
#include "generator/kinds/sections.h"
#include "libstart/base/error.h"

/* systemd sees each container itself. */
static bool handle_exit_code(Container *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "none") ||
               error_set(
                       error, KT_ERROR_UNSUPPORTED,
                       "'%s': each container is a service of its own, whose state says how it ended; use OnFailure= "
                       "or SuccessAction= in a drop-in of that service",
                       value->text);
}

static bool handle_auto_update(Container *container, const Key *key, const Value *value, GError **error) {
        return !strchr(value->text, '/') ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': name the container in the YAML: annotation io.containers.autoupdate/CONTAINER",
                         value->text);
}

static bool handle_directory(Container *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "yaml") || g_str_equal(value->text, "unit") ||
               error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is neither yaml nor unit", value->text);
}

#define NO_PODMAN "there is no podman command; write what it says as keys of [Kube] or in the YAML"
#define NO_REMAP "use UserNS="

/* generator/kube-files.c reads those with handle_nothing(). */
static const Key kube_keys[] = {
        { "AutoUpdate", READ_LAST, handle_auto_update, NULL },
        { "ConfigMap", READ_WORDS, handle_nothing, NULL },
        { "ContainersConfModule", READ_LINES, NULL,
          "no other file is read in the place of containers.conf; write the settings as fields of the YAML" },
        { "ExitCodePropagation", READ_LAST, handle_exit_code, NULL },
        { "GlobalArgs", READ_ARGS, NULL, NO_PODMAN },
        { "KubeDownForce", READ_BOOLEAN, NULL, "volumes are never removed; do it with podman volume rm",
          .fine = "false" },
        { "LogDriver", READ_LAST, handle_nothing, NULL },
        { "LogOpt", READ_WORDS, handle_nothing, NULL },
        { "Network", READ_LINES, handle_nothing, NULL },
        { "PodmanArgs", READ_ARGS, NULL, NO_PODMAN },
        { "PublishPort", READ_LINES, handle_nothing, NULL },
        { "RemapGid", READ_WORDS, NULL, NO_REMAP },
        { "RemapUid", READ_WORDS, NULL, NO_REMAP },
        { "RemapUidSize", READ_LAST, NULL, NO_REMAP },
        { "RemapUsers", READ_LAST, NULL, NO_REMAP },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "SetWorkingDirectory", READ_LAST, handle_directory, NULL },
        { "UserNS", READ_LAST, handle_nothing, NULL },
        { "Yaml", READ_WORDS, handle_nothing, NULL },
};

const KeyTable keys_kube = { "Kube", kube_keys, G_N_ELEMENTS(kube_keys) };

/* The start of this service is done when all of its containers have started. */
static void start_pods(Container *kube) {
        const GPtrArray *files = unit_names_files(kube->names);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                const char *service = unit_names_service(kube->names, file, NULL);

                if (service && file != kube->source && g_str_equal(file->path, kube->source->path) &&
                    (g_str_has_suffix(file->name, ".container") || g_str_has_suffix(file->name, ".pod")))
                        service_order_after(kube->service, "Wants", service);
        }
}

/* What somebody asks for who believes that the containers are in this service. */
static const char *const unreached[] = { "User",          "Group",         "DynamicUser", "MemoryMax",
                                         "MemoryHigh",    "MemorySwapMax", "CPUQuota",    "TasksMax",
                                         "AllowedCPUs",   "Slice",         "DeviceAllow", "DevicePolicy",
                                         "IPAddressDeny", "IPAddressAllow" };

static void refuse_lines(Container *kube) {
        const UnitLine *line;
        const UnitLine *exec = service_user_line(kube->service, "ExecStart"),
                       *restart = service_user_line(kube->service, "Restart");

        for (size_t i = 0; i < G_N_ELEMENTS(unreached); i++)
                if ((line = service_user_line(kube->service, unreached[i])))
                        container_problem(kube, line,
                                          "is of the service that starts the others, and does not reach the "
                                          "containers; write it in the YAML, or in drop-ins of their services");
        if (exec)
                container_problem(kube, exec, "keyturn writes ExecStart= itself; use ExecStartPre=");
        if (restart && !g_str_equal(restart->value, "no"))
                container_warning(kube, restart,
                                  "restartPolicy in the YAML says which containers are started again, ignoring");
}

Container *kube_service_convert(const SourceFile *source, char *service_name, const UnitNames *names) {
        Container *kube = container_new(source, service_name, names);
        Service *service = kube->service;

        kube->section = keys_kube.section;
        sections_check(kube);
        if (name_has_at(source->name))
                container_problem(kube, NULL, "a .kube file has no instances: write a file for each");
        keys_apply(kube, &keys_kube);
        keys_apply(kube, &keys_quadlet);
        refuse_lines(kube);
        sections_unit_of_pod(kube);
        start_pods(kube);
        service_set(service, "Type", "oneshot");
        service_set(service, "RemainAfterExit", "yes");
        service_set(service, "Restart", "no");
        service_set(service, "ExecStart", "/bin/true");
        install_apply(kube);
        return kube;
}
