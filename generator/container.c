/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/container.h"
#include "generator/devices.h"
#include "generator/keys.h"
#include "generator/layer-limits.h"
#include "generator/names.h"
#include "generator/published-ports.h"
#include "generator/sections.h"
#include "libstart/base/error.h"

static char *G_GNUC_PRINTF(3, 0)
        at_line(const Container *container, const UnitLine *line, const char *format, va_list ap) {
        g_autofree char *message = g_strdup_vprintf(format, ap);

        if (!line)
                return g_strdup_printf("%s: %s", container->source->path, message);
        return g_strdup_printf("%s:%u: '%s=': %s", line->path, line->number, line->key, message);
}

void container_problem(Container *container, const UnitLine *line, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_ptr_array_add(container->problems, at_line(container, line, format, ap));
        va_end(ap);
}

void container_warning(Container *container, const UnitLine *line, const char *format, ...) {
        va_list ap;

        va_start(ap, format);
        g_ptr_array_add(container->warnings, at_line(container, line, format, ap));
        va_end(ap);
}

static void apply_sections(Container *container) {
        const UnitFile *unit = container->source->unit;
        const UnitSection *section = unit_file_section(unit, "Container");

        if (section)
                keys_apply(container, section, keys_container, n_keys_container);
        else
                container_problem(container, NULL, "the section [Container] is missing");
        section = unit_file_section(unit, "Quadlet");
        if (section)
                keys_apply(container, section, keys_quadlet, n_keys_quadlet);
        section = unit_file_section(unit, "Keyturn");
        if (section)
                keys_apply(container, section, keys_keyturn, n_keys_keyturn);
}

static void finish_image(Container *container) {
        LaunchArgs *args = container->args;

        if (container->image && container->rootfs)
                container_problem(container, NULL, "Image= and Rootfs= cannot both be given");
        else if (!container->image && !container->rootfs)
                container_problem(container, NULL, "Image= or Rootfs= must be given");
        else {
                args->rootfs = container->rootfs ? FLAG_TRUE : FLAG_UNSET;
                args->image = g_strdup(container->rootfs ? container->rootfs : container->image);
        }
}

static void finish_user(Container *container) {
        g_autofree char *both = NULL;
        g_autoptr(GError) error = NULL;

        if (!container->group)
                return;
        if (!container->user) {
                container_problem(container, container->group_line, "User= must be given, too");
                return;
        }
        both = g_strconcat(container->user, ":", container->group, NULL);
        if (!launch_args_set(container->args, "user", both, &error))
                container_problem(container, container->group_line, "%s", error->message);
}

/* PodmanArgs= comes last, as on Podman's command line: what it says counts. */
static void finish_extra(Container *container) {
        g_autoptr(LaunchArgs) alone = NULL;
        const char *const *words;
        g_autoptr(GError) error = NULL;

        if (container->extra->len == 0)
                return;
        alone = launch_args_new();
        g_ptr_array_add(container->extra, NULL);
        words = (const char *const *) container->extra->pdata;
        if (!launch_args_parse_options(alone, words, &error))
                container_problem(container, container->extra_line, "%s", error->message);
        else if (alone->detach || alone->state_dir || alone->print_spec || alone->rootfs)
                container_problem(container, container->extra_line,
                                  "--detach, --rootfs, --state-dir and --print-spec are not for PodmanArgs=");
        else if (!devices_check(alone, &error))
                container_problem(container, container->extra_line, "--device: %s", error->message);
        else
                (void) launch_args_parse_options(container->args, words, NULL);
}

static void finish_network(Container *container, KeyturnConf *conf) {
        LaunchArgs *args = container->args;
        const char *network, *origin;
        g_autoptr(GError) error = NULL;

        if (args->network)
                container->has_network = true;
        else if (!keyturn_conf_default(conf, SETTING_NETWORK, &network, &origin, &error))
                container_problem(container, NULL, "the default network is not known: %s", error->message);
        else {
                args->network = g_strdup(network);
                service_comment(container->service, "Network=%s, from %s: the file itself does not say.", network,
                                origin);
        }
        published_ports_check(container);
}

static void finish_names(Container *container) {
        LaunchArgs *args = container->args;

        if (!args->name)
                args->name = g_strdup(name_has_at(container->service->name) ? "systemd-%p_%i" : "systemd-%N");
        args->state_dir = g_strdup("%t/keyturn/%N");
}

Container *container_new(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Container *container = g_new0(Container, 1);

        container->source = source;
        container->service = service_new(service_name, source->unit);
        container->args = launch_args_new();
        container->problems = g_ptr_array_new_with_free_func(g_free);
        container->warnings = g_ptr_array_new_with_free_func(g_free);
        container->published = g_ptr_array_new();
        container->extra = g_ptr_array_new_with_free_func(g_free);
        container->reload_cmd = g_ptr_array_new_with_free_func(g_free);

        apply_sections(container);
        finish_image(container);
        finish_user(container);
        finish_extra(container);
        finish_network(container, conf);
        layer_limits_finish(container, conf);
        finish_names(container);
        if (container->problems->len == 0) {
                sections_unit(container, names);
                sections_service(container);
        }
        return container;
}

void container_free(Container *container) {
        if (!container)
                return;
        service_free(container->service);
        launch_args_free(container->args);
        g_ptr_array_unref(container->problems);
        g_ptr_array_unref(container->warnings);
        g_ptr_array_unref(container->published);
        g_ptr_array_unref(container->extra);
        g_ptr_array_unref(container->reload_cmd);
        g_free(container->image);
        g_free(container->rootfs);
        g_free(container->user);
        g_free(container->group);
        g_free(container->stop_timeout);
        g_free(container->pids_limit);
        g_free(container->memory);
        g_free(container);
}
