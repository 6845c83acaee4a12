/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/container-service.h"
#include "generator/files/names.h"
#include "generator/kinds/install.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/kube-parts.h"
#include "generator/kinds/pod-join.h"
#include "generator/kinds/podman-args.h"
#include "generator/kinds/sections.h"
#include "generator/network/network-unit.h"
#include "generator/network/network.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/health.h"
#include "generator/parts/images.h"
#include "generator/parts/layer-limits.h"
#include "generator/parts/log-driver.h"
#include "generator/parts/mounts.h"
#include "generator/parts/option-rules.h"
#include "generator/parts/owner.h"
#include "generator/parts/user-namespace.h"
#include "generator/parts/users-container.h"
#include "generator/unit/keys.h"

/* Where its name is misspelled, or its line has a problem, that is known already. */
static void miss_section(Conversion *container) {
        if (!container->is_refused)
                conversion_problem(container, NULL, "the section [Container] is missing");
}

/* Podman ends the one where the other starts. Here both run, and nobody can tell by the name which one is meant. */
static void warn_of_twin(Conversion *container) {
        const SourceFile *twin = unit_names_twin(container->names, container->source);

        if (twin)
                conversion_warning(
                        container, conversion_line(container, "Container", "ContainerName"),
                        "the container of %s has the same name: keyturnctl knows them by their services only",
                        twin->path);
}

static void set_names(Conversion *container) {
        LaunchArgs *args = container->args;

        warn_of_twin(container);
        if (!args->name)
                args->name = g_strdup(name_has_at(container->service->name) ? "systemd-%p_%i" : "systemd-%N");
        args->state_dir = g_strconcat("%t/", name_state_directory(container->service->name), NULL);
}

static void apply_keys(Conversion *container) {
        sections_begin(container);
        keys_apply(container, &keys_container);
        keys_apply(container, &keys_quadlet);
        keys_apply(container, &keys_keyturn);
        if (unit_file_section(container->source->unit, "Container"))
                keys_container_finish(container);
        else
                miss_section(container);
}

static void apply_podman_args(Conversion *container) {
        podman_args_apply(container, &podman_run);
        if (container->is_users)
                owner_refuse(
                        container,
                        "a user's manager starts nothing as somebody else: remove it (User= in [Container] says who "
                        "the payload is), or write the file for the system's manager");
        else
                owner_finish(container);
}

static void wait_for_view(Conversion *container) {
        users_container_unit(container, container->service);
}

enum {
        KEYS = 1,
        ARGS = 2,
        USERNS = 4,
        POD = 8,
        NETWORK = 16,
        NAMES = 32,
        UNIT = 64,
        RULES = 128,
        HOOKS = 256,
        MODULES = 512,
        ALL = 1023
};

/* In this order: each does something, and needs what others have done. */
static const struct {
        unsigned does;
        void (*pass)(Conversion *container);
        unsigned needs;
} passes[] = {
        { KEYS, apply_keys, 0 },
        { ARGS, apply_podman_args, KEYS }, /* the last word, as on Podman's command line */
        { 0, health_finish, ARGS },
        { 0, log_driver_finish, ARGS },
        { USERNS, user_namespace_finish, ARGS },
        { POD, pod_join, ARGS | USERNS },             /* what the pod has it must not have */
        { 0, mounts_find_sources, POD },              /* of the pod's volumes, too */
        { MODULES, conf_modules_finish, ARGS | POD }, /* what nobody else has said */
        { NETWORK, network_finish, USERNS | POD },
        { 0, image_finish, ARGS },
        { 0, layer_limits_finish, ARGS },
        { NAMES, set_names, ARGS },
        { UNIT, network_unit_finish, NETWORK | NAMES | MODULES }, /* takes sysctls */
        { 0, users_container_check, ARGS | USERNS | POD | UNIT | MODULES },
        { RULES, option_rules_check, ARGS | USERNS | POD | UNIT | MODULES }, /* what libstart would see */
        { HOOKS, hooks_finish, POD | MODULES },
        { 0, kube_part_ends, 0 },
        { 0, wait_for_view, ALL },
        { 0, sections_unit, ALL },
        { 0, sections_service, ALL },
        { 0, install_apply, ALL },
};

Conversion *container_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf,
                              MachineConf *machine, Hooks *hooks) {
        Conversion *container = conversion_new(source, service_name, names);
        unsigned done = 0;

        container->keys = &keys_container;
        container->conf = conf;
        container->is_users = keyturn_conf_is_users(conf);
        container->machine = machine;
        container->hooks = hooks;
        for (size_t i = 0; i < G_N_ELEMENTS(passes); i++) {
                g_assert(!(passes[i].needs & ~done));
                passes[i].pass(container);
                done |= passes[i].does;
        }
        return container;
}
