/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/container-service.h"
#include "generator/health.h"
#include "generator/images.h"
#include "generator/install.h"
#include "generator/keys-container.h"
#include "generator/keys.h"
#include "generator/layer-limits.h"
#include "generator/names.h"
#include "generator/network-unit.h"
#include "generator/network.h"
#include "generator/option-rules.h"
#include "generator/pod-join.h"
#include "generator/podman-args.h"
#include "generator/sections.h"
#include "generator/source-path.h"
#include "generator/user-namespace.h"

/* Perhaps its name is misspelled, or its line has a problem that is known already. */
static void miss_section(Container *container) {
        const GPtrArray *sections = container->source->unit->sections;

        for (guint i = 0; i < sections->len; i++) {
                const UnitSection *section = sections->pdata[i];

                if (section->name && keys_is_slip(section->name, "Container")) {
                        container_problem(container, &section->header, "unknown section [%s]; is [Container] meant?",
                                          section->name);
                        return;
                }
        }
        if (!container->is_refused)
                container_problem(container, NULL, "the section [Container] is missing");
}

static void set_names(Container *container) {
        LaunchArgs *args = container->args;

        if (!args->name)
                args->name = g_strdup(name_has_at(container->service->name) ? "systemd-%p_%i" : "systemd-%N");
        args->state_dir = g_strconcat("%t/", name_state_directory(container->service->name), NULL);
}

Container *container_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf,
                             Hooks *hooks) {
        Container *container = container_new(source, service_name, names);

        container->keys = &keys_container;
        container_add_syntax_problems(container);
        keys_apply(container, &keys_container);
        keys_apply(container, &keys_quadlet);
        keys_apply(container, &keys_keyturn);
        if (unit_file_section(source->unit, "Container"))
                keys_container_finish(container);
        else
                miss_section(container);
        podman_args_apply(container, NULL);
        health_finish(container);
        user_namespace_finish(container);
        pod_join(container, conf);
        source_paths_find(container);
        network_finish(container, conf);
        image_finish(container, conf);
        layer_limits_finish(container, conf);
        set_names(container);
        network_unit_finish(container);
        option_rules_check(container);
        hooks_finish(container, hooks);
        sections_unit(container);
        sections_service(container);
        install_apply(container);
        return container;
}
