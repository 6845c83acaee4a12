/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/conversion.h"
#include "generator/files/names.h"
#include "generator/kinds/container-service.h"
#include "generator/kinds/keys-artifact.h"
#include "generator/kinds/keys-build.h"
#include "generator/kinds/keys-image.h"
#include "generator/kinds/keys-kube.h"
#include "generator/kinds/keys-network.h"
#include "generator/kinds/keys-volume.h"
#include "generator/kinds/pod-service.h"

static Container *convert_any(const Run *run, const SourceFile *source, char *name) {
        if (g_str_has_suffix(source->name, ".artifact"))
                return artifact_convert(source, name, run->names, run->conf);
        if (g_str_has_suffix(source->name, ".volume"))
                return volume_convert(source, name, run->names, run->conf);
        if (g_str_has_suffix(source->name, ".image"))
                return image_convert(source, name, run->names, run->conf);
        if (g_str_has_suffix(source->name, ".build"))
                return build_convert(source, name, run->names, run->conf);
        if (g_str_has_suffix(source->name, ".kube"))
                return kube_service_convert(source, name, run->names);
        if (g_str_has_suffix(source->name, ".network"))
                return network_convert(source, name, run->names, run->conf);
        if (g_str_has_suffix(source->name, ".pod"))
                return pod_convert(source, name, run->names, run->conf);
        return container_convert(source, name, run->names, run->conf, run->machine, run->hooks);
}

Container *convert_file(const Run *run, const SourceFile *source) {
        g_autoptr(GError) error = NULL;
        const char *service = unit_names_service(run->names, source, &error);
        char *name = g_strdup(service ?: NAME_NONE);
        Container *container = convert_any(run, source, name);

        if (error)
                container_problem(container, unit_names_line(source), "%s", error->message);
        return container;
}
