/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/beside-podman.h"
#include "generator/container-output.h"
#include "generator/conversion.h"
#include "generator/network/network-join.h"
#include "generator/network/network-unit.h"
#include "generator/parts/health.h"
#include "generator/parts/image-service.h"
#include "generator/parts/kernel-control.h"
#include "generator/parts/secrets.h"
#include "generator/parts/user-namespace.h"
#include "generator/refused.h"
#include "libstart/base/log.h"
#include "libstart/value/env-list.h"

/* Is the file left to Podman, or its service to the administrator? If so, it is said why. */
static bool is_left(Run *run, const Container *container) {
        g_autofree char *reason = NULL, *override = NULL;

        if (!run->beside_podman || container->source->unit->problems->len > 0) /* Podman could not read them either */
                return false;
        if (!beside_podman_is_ours(container->source))
                reason = beside_podman_reason(container);
        if (reason) {
                log_info("left to Podman: %s", reason);
                return true;
        }
        override = beside_podman_override(run->tree, container->service->name);
        if (override)
                log_info("%s: %s is there, which counts instead", container->source->path, override);
        return override;
}

/* A container with more variables than this has them in a file of their own. systemd takes about 10 us for each when
 * it starts a unit (5,000 made `systemctl start` 47 ms longer, and 4 in a file); reading one costs libstart 30 us. */
#define ENV_WORDS_MAX 40

/* Everybody can read the command line while the container starts, and systemd tells it to whoever asks. So where not
 * everybody may read the .container file, all variables go into the file. Those with a specifier or a variable of
 * systemd's cannot: systemd would not expand them there. */
static guint words_max(mode_t readers) {
        return readers == READERS_ALL ? ENV_WORDS_MAX : 0;
}

/* Nothing where there are few. The file is named like the service. */
static void put_environment(Run *run, const Container *container) {
        mode_t readers = container->source->unit->readers;
        LaunchArgs *args = container->args;
        g_autofree char *stem = g_strndup(container->service->name,
                                          strlen(container->service->name) - strlen(".service"));
        g_autofree char *name = g_strconcat(stem, ".env", NULL);
        g_autoptr(GString) list = NULL;

        if (args->env->len <= words_max(readers))
                return;
        list = env_list_take(args->env);
        args->env_list = g_build_filename(run->directory, name, NULL);
        if (run->is_dry)
                g_string_printf(list, "%" G_GSIZE_FORMAT " bytes of variables\n", list->len);
        writer_put_file(run->writer, container->source->path, name, readers, list);
}

/* The service that pulls the image, ahead of the container's. */
static void put_puller(Run *run, const Container *container) {
        g_autoptr(GString) text = NULL;

        image_skip_present(container, run->root);
        if (!container->puller)
                return;
        text = service_print(container->puller, container->source->path);
        writer_put_unit(run->writer, container->source->path, container->puller, container->source->unit->readers,
                        text);
}

/* What Podman makes itself, its containers alone can use. */
static void refuse_podmans(Container *container) {
        if (container->mounted_volume)
                container_problem(
                        container, NULL,
                        "Podman makes the volume of %s, and mounts its Device= for its own containers only: "
                        "let Podman run this one, or mount the device with a .mount unit",
                        container->mounted_volume->path);
        if (container->uses_template)
                container_problem(
                        container, NULL,
                        "Podman makes what is of %s, and before version 5.7 by another service: let Podman run "
                        "this one, or write a file for each",
                        container->uses_template->path);
        if (container->pod)
                container_problem(container, container_line(container, "Container", "Pod"),
                                  "Podman makes its pods itself, for its own containers only");
}

/* The other's file is read once more. */
static void check_joined(const Run *run, Container *container) {
        const SourceFile *source = network_join_find(container);
        g_autoptr(Container) other = source ? convert_file(run, source) : NULL;

        if (other)
                network_join_check(container, other);
}

/* Whether there is to be a service that starts it. What is wrong with it is said. */
static bool is_good(Run *run, Container *container) {
        untrusted_paths_add(run->untrusted, container);
        network_unit_check(container, run->tree, run->machine);
        check_joined(run, container);
        kernel_control_check(container, run->missing);
        if (run->beside_podman)
                refuse_podmans(container);
        if (is_left(run, container))
                return false;
        untrusted_paths_check_streams(run->untrusted, container);
        filters_needed_check(run->filters, container);
        run_report(run, container);
        if (container->is_refused)
                refused_put(run, container, run->writer);
        return !container->is_refused;
}

void container_put(Run *run, const SourceFile *source) {
        g_autoptr(Container) container = convert_file(run, source);
        g_autoptr(GString) text = NULL;

        if (!is_good(run, container))
                return;
        filters_needed_add(run->filters, container);
        machine_conf_label(run->machine, container);
        if (container->is_early)
                machine_conf_mounts(run->machine, container->service);
        put_environment(run, container);
        untrusted_paths_refer(run->untrusted, container, run->directory);
        user_namespace_write(container, run->writer);
        network_unit_write(container, run->writer);
        secrets_service(container, run->tree);
        service_exec_start(container->service, container->args);
        put_puller(run, container);
        text = service_print(container->service, source->path);
        run->has_unit = true;
        run->controls |= container->controls;
        run->has_updates |= container->is_updated;
        writer_put_unit(run->writer, source->path, container->service, source->unit->readers, text);
        health_put_timers(container, run->writer);
}
