/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/keys-kube.h"
#include "generator/files/names.h"
#include "generator/kinds/install.h"
#include "generator/kinds/kube-parts.h"
#include "generator/kinds/sections.h"
#include "generator/unit/keys.h"
#include "libstart/base/error.h"

static bool handle_exit_code(Conversion *container, const Key *key, const Value *value, GError **error) {
        static const char *const policies[] = { "all", "any", "none", NULL };

        return g_strv_contains(policies, value->text) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is none of all, any and none", value->text);
}

static bool handle_directory(Conversion *container, const Key *key, const Value *value, GError **error) {
        return g_ascii_strcasecmp(value->text, "yaml") == 0 || g_ascii_strcasecmp(value->text, "unit") == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED, "'%s' is neither yaml nor unit", value->text);
}

/* Which ids is not said of several pods. */
static bool handle_remap_users(Conversion *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "auto") || g_str_equal(value->text, "keep-id") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': a .kube file takes auto and keep-id; for other ids, write UserNS=", value->text);
}

#define NO_PODMAN "there is no podman command; write what it says as keys of [Kube] or in the YAML"

/* generator/kube-files.c reads those with handle_nothing(). */
static const Key kube_keys[] = {
        { "AutoUpdate", READ_WORDS, handle_nothing, NULL },
        { "ConfigMap", READ_WORDS, handle_nothing, NULL },
        { "ContainersConfModule", READ_LINES, handle_nothing, NULL },
        { "ExitCodePropagation", READ_LAST, handle_exit_code, NULL },
        { "GlobalArgs", READ_ARGS, NULL, NO_PODMAN },
        { "KubeDownForce", READ_BOOLEAN, handle_nothing, NULL }, /* kube-parts.h */
        { "LogDriver", READ_LAST, handle_nothing, NULL },
        { "LogOpt", READ_WORDS, handle_nothing, NULL },
        { "Network", READ_LINES, handle_nothing, NULL },
        { "PodmanArgs", READ_ARGS, NULL, NO_PODMAN },
        { "PublishPort", READ_LINES, handle_nothing, NULL },
        { "RemapGid", READ_WORDS, handle_nothing, NULL },
        { "RemapUid", READ_WORDS, handle_nothing, NULL },
        { "RemapUidSize", READ_LAST, handle_nothing, NULL },
        { "RemapUsers", READ_LAST, handle_remap_users, NULL },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "SetWorkingDirectory", READ_LAST, handle_directory, NULL },
        { "UserNS", READ_LAST, handle_nothing, NULL },
        { "Yaml", READ_WORDS, handle_nothing, NULL },
};

static const KeyTable keys_kube = { "Kube", kube_keys, G_N_ELEMENTS(kube_keys) };

void kube_service_start_parts(Conversion *kube) {
        const GPtrArray *files = unit_names_files(kube->names);
        g_autoptr(GString) ended = kube_parts_ended(kube);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                const char *service = unit_names_service(kube->names, file, NULL);

                if (service && kube_parts_has(kube, file) &&
                    (g_str_has_suffix(file->name, ".container") || g_str_has_suffix(file->name, ".pod")))
                        service_order_after(kube->service, "Wants", service);
        }
        if (ended)
                service_set(kube->service, "ExecStop", ended->str);
}

/* What somebody asks for who believes that the containers are in this service. */
static const char *const unreached[] = { "User",          "Group",         "DynamicUser", "MemoryMax",
                                         "MemoryHigh",    "MemorySwapMax", "CPUQuota",    "TasksMax",
                                         "AllowedCPUs",   "Slice",         "DeviceAllow", "DevicePolicy",
                                         "IPAddressDeny", "IPAddressAllow" };

static void refuse_lines(Conversion *kube) {
        const UnitLine *line;
        const UnitLine *exec = service_user_line(kube->service, "ExecStart"),
                       *restart = service_user_line(kube->service, "Restart");

        for (size_t i = 0; i < G_N_ELEMENTS(unreached); i++)
                if ((line = service_user_line(kube->service, unreached[i])))
                        conversion_problem(kube, line,
                                           "is of the service that starts the others, and does not reach the "
                                           "containers; write it in the YAML, or in drop-ins of their services");
        if (exec)
                conversion_problem(kube, exec, "keyturn writes ExecStart= itself; use ExecStartPre=");
        if (restart && !g_str_equal(restart->value, "no"))
                conversion_warning(kube, restart,
                                   "restartPolicy in the YAML says which containers are started again, ignoring");
}

Conversion *kube_service_convert(const SourceFile *source, char *service_name, const UnitNames *names) {
        Conversion *kube = conversion_new(source, service_name, names);
        Service *service = kube->service;

        kube->section = keys_kube.section;
        sections_begin(kube);
        if (name_has_at(source->name))
                conversion_problem(kube, NULL, "a .kube file has no instances: write a file for each");
        keys_apply(kube, &keys_kube);
        keys_apply(kube, &keys_quadlet);
        refuse_lines(kube);
        sections_unit_of_pod(kube);
        service_set(service, "Type", "oneshot");
        service_set(service, "RemainAfterExit", "yes");
        service_set(service, "Restart", "no");
        service_set(service, "ExecStart", "/bin/true");
        install_apply(kube);
        return kube;
}
