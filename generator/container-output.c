/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "generator/container-output.h"
#include "generator/convert.h"
#include "generator/network/network-join.h"
#include "generator/network/network-unit.h"
#include "generator/parts/health.h"
#include "generator/parts/image-service.h"
#include "generator/parts/kernel-control.h"
#include "generator/parts/secrets.h"
#include "generator/parts/user-namespace.h"
#include "generator/refused.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/value/env-list.h"

/*
 * Podman's generator reads the same files: keyturn-generator(8), BESIDE PODMAN, says who takes which
 */

/* Why a file without [Keyturn] is left to Podman. NULL where keyturn gives it exactly the meaning that Podman does.
 * Transfer full. */
static char *find_reason(const Conversion *container) {
        const GPtrArray *findings = conversion_findings(container);
        const char *why = NULL;

        for (guint i = 0; i < findings->len && !container->is_users; i++) {
                const Finding *finding = findings->pdata[i];

                if (finding->kind != FINDING_WARNING)
                        return g_strdup(finding->text);
        }
        if (container->is_users) /* its network is another one, and much is not there yet */
                why = "a user's file without a section [Keyturn]";
        else if (service_user_line(container->service, "UMask") && !conversion_line(container, "Container", "Umask"))
                why = "UMask= of [Service] is not the payload's for Podman";
        else if (container->args->dynamic_user == FLAG_TRUE)
                why = "DynamicUser= of [Service] is who runs podman, which cannot";
        else if (container->args->owner)
                why = "User= of [Service] is who runs podman, with an image store of its own";
        else if (!container->network.is_said)
                why = "Network= is not set, which is a bridge for Podman";
        return why ? g_strdup_printf("%s: %s", container->source->path, why) : NULL;
}

/* The path of the administrator's own unit (or mask) of that name, which a unit in the early directory would
 * override. Transfer full; NULL where there is none, or with an error where that cannot be told. */
static char *find_override(const Tree *tree, const char *service, GError **error) {
        static const char *const directories[] = { "/etc/systemd/system", "/run/systemd/system" };

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], service, NULL);
                _cleanup_close_ int fd = tree_open_path(tree, path, O_PATH | O_NOFOLLOW);

                if (fd >= 0)
                        return g_steal_pointer(&path);
                if (errno != ENOENT && errno != ENOTDIR)
                        return error_null_errno(error, errno, "whether '%s' is there cannot be told", path);
        }
        return NULL;
}

/* Is the file left to Podman, or its service to the administrator? If so, it is said why. With [Keyturn] it is
 * keyturn's, even where it must be refused. */
static bool is_left(Run *run, Conversion *container) {
        g_autofree char *reason = NULL, *override = NULL;
        g_autoptr(GError) error = NULL;

        if (!run->beside_podman || container->source->unit->problems->len > 0) /* Podman could not read them either */
                return false;
        if (!unit_file_section(container->source->unit, "Keyturn"))
                reason = find_reason(container);
        if (reason) {
                log_info("left to Podman: %s", reason);
                return true;
        }
        override = find_override(run->tree, container->service->name, &error);
        if (error)
                conversion_problem(container, NULL, "%s", error->message);
        if (override)
                log_info("%s: %s is there, which counts instead", container->source->path, override);
        return override;
}

/*
 * What is written beside the service
 */

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
static void put_environment(Run *run, const Conversion *container) {
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
static void put_puller(Run *run, const Conversion *container) {
        g_autoptr(GString) text = NULL;

        image_skip_present(container, run->root);
        if (!container->image.puller)
                return;
        text = service_print(container->image.puller, container->source->path);
        writer_put_unit(run->writer, container->source->path, container->image.puller,
                        container->source->unit->readers, text);
}

/* What Podman makes itself, its containers alone can use. */
static void refuse_podmans(Conversion *container) {
        if (container->mounted_volume)
                conversion_problem(
                        container, NULL,
                        "Podman makes the volume of %s, and mounts its Device= for its own containers only: "
                        "let Podman run this one, or mount the device with a .mount unit",
                        container->mounted_volume->path);
        if (container->uses_template)
                conversion_problem(
                        container, NULL,
                        "Podman makes what is of %s, and before version 5.7 by another service: let Podman run "
                        "this one, or write a file for each",
                        container->uses_template->path);
        if (container->pod.file)
                conversion_problem(container, conversion_line(container, "Container", "Pod"),
                                   "Podman makes its pods itself, for its own containers only");
}

/* The other's file is read once more. */
static void check_joined(const Run *run, Conversion *container) {
        const SourceFile *source = network_join_find(container);
        g_autoptr(Conversion) other = source ? convert_file(run, source) : NULL;

        if (other)
                network_join_check(container, other);
}

/* Whether there is to be a service that starts it. What is wrong with it is said. */
static bool is_good(Run *run, Conversion *container) {
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
                refused_put(run, container);
        return !container->is_refused;
}

void container_put(Run *run, const SourceFile *source) {
        g_autoptr(Conversion) container = convert_file(run, source);
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
        run->controls |= container->limits.controls;
        run->has_updates |= container->image.is_updated;
        writer_put_unit(run->writer, source->path, container->service, source->unit->readers, text);
        health_put_timers(container, run->writer);
}
