/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/convert.h"
#include "generator/files/names.h"
#include "generator/kinds/container-service.h"
#include "generator/kinds/keys-kube.h"
#include "generator/kinds/resource.h"

Conversion *convert_as(const Run *run, const SourceFile *source, char *service) {
        static const struct {
                const char *suffix;
                ResourceConvert *convert;
        } kinds[] = {
                { ".artifact", artifact_convert }, { ".build", build_convert }, { ".image", image_convert },
                { ".network", network_convert },   { ".pod", pod_convert },     { ".volume", volume_convert },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
                if (g_str_has_suffix(source->name, kinds[i].suffix))
                        return kinds[i].convert(source, service, run->names, run->conf);
        return g_str_has_suffix(source->name, ".kube") ?
                       kube_service_convert(source, service, run->names) :
                       container_convert(source, service, run->names, run->conf, run->machine, run->hooks);
}

Conversion *convert_file(const Run *run, const SourceFile *source) {
        g_autoptr(GError) error = NULL;
        const char *service = unit_names_service(run->names, source, &error);
        Conversion *container = convert_as(run, source, g_strdup(service ?: NAME_NONE));

        if (error)
                conversion_problem(container, unit_names_line(source), "%s", error->message);
        return container;
}
