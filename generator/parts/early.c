/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/early.h"
#include "libstart/base/error.h"
#include "libstart/request/storage-option.h"
#include "libstart/value/unit-words.h"

/* Where Podman has images unless storage.conf says something else, which is not read here. */
#define IMAGE_STORE "/var/lib/containers/storage"

bool handle_early(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (g_ascii_strcasecmp(value->text, "initrd") == 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "containers are not started in the initrd, where their images are not; 'yes' starts "
                                 "this one as soon as the real root and the file systems that it needs are mounted");
        return key_parse_boolean(value->text, &container->is_early, error);
}

/* Default dependencies order a service after basic.target, Early=yes orders it before: systemd would break the
 * circle somewhere. */
static void refuse_default_dependencies(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Unit", "DefaultDependencies");
        bool enabled;

        if (line && line->value[0] && key_parse_boolean(line->value, &enabled, NULL) && enabled)
                conversion_problem(container, line,
                                   "would order it after basic.target, and Early=yes before; remove one of the two");
}

/* A path on a file system that the first process mounts, and never read-only? */
static bool is_of_kernel(const char *path) {
        return g_str_has_prefix(path, "/dev/") || g_str_has_prefix(path, "/run/") || g_str_has_prefix(path, "/sys/");
}

static bool binds_files(const Conversion *container) {
        for (guint i = 0; i < container->sources->len; i++) {
                const MountSource *source = &g_array_index(container->sources, MountSource, i);

                if (!is_of_kernel(source->path))
                        return true;
        }
        return container->image.rootfs;
}

/* The image is in one of them. */
static void add_stores(Conversion *container) {
        g_autoptr(GPtrArray) stores = storage_option_find_stores(container->args->storage_opt);

        service_unit(container->service, "RequiresMountsFor", IMAGE_STORE);
        for (guint i = 0; stores && i < stores->len; i++) {
                g_autoptr(GString) value = g_string_new(NULL);

                unit_words_add(value, stores->pdata[i]);
                service_unit(container->service, "RequiresMountsFor", value->str);
        }
}

/* What the containers of a pod that start early need, the pod is before them. */
void early_order_before_basic(Conversion *conversion) {
        Service *service = conversion->service;

        if (!conversion->is_early)
                return;
        service_unit_first(service, "DefaultDependencies", "no");
        service_unit_first(service, "Before", "basic.target");
        /* These follow the user's lines, so that an empty Before= of theirs undoes the order at boot but not the one
         * at shutdown. */
        service_unit(service, "Conflicts", "shutdown.target");
        service_unit(service, "Before", "shutdown.target");
}

void early_unit(Conversion *container) {
        if (!container->is_early)
                return;
        refuse_default_dependencies(container);
        early_order_before_basic(container);
        /* The kernel mounts the root read-only. A bind mount made before it is remounted would stay read-only. */
        if (binds_files(container))
                service_unit_first(container->service, "After", "systemd-remount-fs.service");
        if (!container->image.rootfs && !conversion_line(container, "Unit", "RequiresMountsFor"))
                add_stores(container);
}

const char *early_wanted_by(const Conversion *container) {
        static const char *const keys[] = { "WantedBy", "RequiredBy", "UpheldBy" };
        const UnitSection *install = unit_file_section(container->source->unit, "Install");

        if (!container->is_early)
                return NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (unit_section_last(install, keys[i]))
                        return NULL;
        return "basic.target";
}
