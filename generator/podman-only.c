/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/podman-only.h"
#include "generator/files/names.h"
#include "generator/files/shadowed-unit.h"
#include "generator/kinds/install.h"
#include "generator/refused.h"

/* Why there is nothing made of the other types, and what to do instead. */
static const struct {
        const char *suffix;
        const char *instead;
} other_types[] = {
        { ".artifact", "put the files where the system image has them" },
};

/* Such a file does not take the name from another generator's unit, and says nothing of how the machine's own starts.
 */
static void refuse(Run *run, const SourceFile *source, const char *instead) {
        g_autoptr(UnitFile) nothing = unit_file_new();
        SourceFile readable = *source;
        char *name = unit_names_wanted(source, NULL);
        g_autoptr(Container) stub = NULL;

        readable.unit = source->unit ?: nothing;
        stub = container_new(&readable, name ?: g_strdup(NAME_NONE), run->names);
        stub->section = name_podmans_section(source->name);
        container_problem(stub, NULL, "such files are Podman's, whose generator is not active; install it, or %s",
                          instead);
        service_unit(stub->service, "SourcePath", source->path);
        service_set(stub->service, "Type", "oneshot");
        install_apply(stub);
        run_report(run, stub);
        if (!shadowed_unit_exists(run->root, stub->service->name, run->image_units))
                refused_put(run, stub, run->late);
}

void podman_only_refuse(Run *run, const SourceFile *source) {
        for (size_t i = 0; i < G_N_ELEMENTS(other_types) && !run->beside_podman; i++)
                if (g_str_has_suffix(source->name, other_types[i].suffix))
                        refuse(run, source, other_types[i].instead);
}
