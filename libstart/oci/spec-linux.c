/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/oci/spec-parts.h"
#include "libstart/option/sysctl.h"

typedef runtime_spec_schema_defs_linux_namespace_reference Namespace;

static void add_namespace(runtime_spec_schema_config_linux *linux_, const char *type) {
        Namespace *ns = g_new0(Namespace, 1);

        ns->type = g_strdup(type);
        linux_->namespaces[linux_->namespaces_len++] = ns;
}

static void add_namespaces(runtime_spec_schema_config_linux *linux_, bool own_network) {
        static const char *const types[] = { "pid", "ipc", "uts", "mount", "cgroup" };

        linux_->namespaces = g_new0(Namespace *, G_N_ELEMENTS(types) + 1);
        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                add_namespace(linux_, types[i]);
        if (own_network)
                add_namespace(linux_, "network");
}

static bool set_sysctl(json_map_string_string *sysctls, const char *value, bool own_network, GError **error) {
        g_autofree char *name = NULL;
        SysctlNamespace ns;

        if (!sysctl_parse(value, &name, &ns, error))
                return false;
        if (ns == SYSCTL_NETWORK && !own_network)
                return error_set(error, KT_ERROR_USAGE,
                                 "sysctl '%s': with the host's network this is the whole machine's: set it with "
                                 "sysctl.d(5), or use Network=none",
                                 value);
        append_json_map_string_string(sysctls, name, strchr(value, '=') + 1);
        return true;
}

static bool add_sysctls(runtime_spec_schema_config_linux *linux_, const SpecInput *input, GError **error) {
        bool own_network = spec_has_own_network(input);
        const GPtrArray *values = input->args->sysctls;

        if (values->len == 0 && !own_network)
                return true;
        linux_->sysctl = g_new0(json_map_string_string, 1);
        /* As Podman ships it: everyone in the container may ping. */
        if (own_network)
                append_json_map_string_string(linux_->sysctl, "net.ipv4.ping_group_range", "0 0");
        for (guint i = 0; i < values->len; i++)
                if (!set_sysctl(linux_->sysctl, values->pdata[i], own_network, error))
                        return false;
        return true;
}

static bool has_option(const Spec *spec, const char *option) {
        for (size_t i = 0; i < spec->mounts_len; i++)
                for (size_t j = 0; j < spec->mounts[i]->options_len; j++)
                        if (g_str_equal(spec->mounts[i]->options[j], option))
                                return true;
        return false;
}

/* A mount that is to see the host's later mounts needs a root that does: podman's choice. */
static const char *find_propagation(const Spec *spec) {
        if (has_option(spec, "shared") || has_option(spec, "rshared"))
                return "shared";
        if (has_option(spec, "slave") || has_option(spec, "rslave"))
                return "rslave";
        return NULL;
}

bool spec_add_linux(Spec *spec, const SpecInput *input, GError **error) {
        runtime_spec_schema_config_linux *linux_ = g_new0(runtime_spec_schema_config_linux, 1);

        spec->linux = linux_;
        add_namespaces(linux_, spec_has_own_network(input));
        if (!spec_add_masks(spec, input, error))
                return false;
        linux_->rootfs_propagation = g_strdup(find_propagation(spec));
        return add_sysctls(linux_, input, error);
}
