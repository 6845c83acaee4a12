/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/untrusted-survey.h"
#include "generator/kinds/container-service.h"

static const char *find_service(const Run *run, const SourceFile *source) {
        return source->is_masked || source->error || !g_str_has_suffix(source->name, ".container") ?
                       NULL :
                       unit_names_service(run->names, source, NULL);
}

void untrusted_survey(Run *run, const GPtrArray *files) {
        bool matter = false;

        for (guint i = 0; i < files->len && !matter; i++) {
                const SourceFile *source = files->pdata[i];

                matter = source->unit && untrusted_paths_matter(source->unit);
        }
        for (guint i = 0; i < files->len && matter; i++) {
                const char *service = find_service(run, files->pdata[i]);
                g_autoptr(Container) container = NULL;

                if (!service)
                        continue;
                container = container_convert(files->pdata[i], g_strdup(service), run->names, run->conf, run->machine,
                                              run->hooks);
                untrusted_paths_add(run->untrusted, container);
        }
}
