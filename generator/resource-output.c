/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/resource-output.h"
#include "generator/convert.h"
#include "generator/kinds/keys-kube.h"
#include "generator/kinds/registry-creds.h"
#include "generator/network/network-unit.h"
#include "generator/parts/image-service.h"
#include "generator/parts/user-namespace.h"
#include "generator/refused.h"

/* The password of a .image or .artifact file gets a file of its own. */
static void put_credentials(Run *run, const Conversion *image) {
        g_autoptr(GString) auth = registry_creds_file(image);
        g_autofree char *name = NULL;

        if (!auth)
                return;
        name = g_strconcat(image->service->name, ".auth.json", NULL);
        g_ptr_array_insert(image->image.tool_words, 0, g_strconcat("--authfile=", run->directory, "/", name, NULL));
        if (run->is_dry)
                g_string_printf(auth, "%" G_GSIZE_FORMAT " bytes with a password\n", auth->len);
        writer_put_file(run->writer, image->source->path, name, READERS_NONE, auth);
}

/* As with Podman, all of an application is started or nothing: what is missing may be what guards the rest. */
static void finish_kube(const Run *run, Conversion *kube) {
        const char *why = g_hash_table_lookup(run->refused_kubes, kube->source->path);

        if (kube->is_refused)
                return;
        if (why)
                conversion_problem(kube, NULL, "a part of it is refused, so nothing of it is started: %s", why);
        else
                kube_service_start_parts(kube);
}

void resource_put(Run *run, const SourceFile *source) {
        g_autoptr(Conversion) resource = convert_file(run, source);
        g_autoptr(GString) text = NULL;

        untrusted_paths_add(run->untrusted, resource);
        network_unit_check(resource, run->tree, run->machine);
        if (g_str_has_suffix(source->name, ".kube"))
                finish_kube(run, resource);
        run_report(run, resource);
        if (resource->is_refused) {
                refused_put(run, resource);
                return;
        }
        if (g_str_has_suffix(source->name, ".volume")) {
                machine_conf_mounts(run->machine, resource->service);
                untrusted_paths_refer_device(run->untrusted, resource, run->directory);
        }
        user_namespace_write(resource, run->writer);
        network_unit_write(resource, run->writer);
        if (g_str_has_suffix(source->name, ".image") || g_str_has_suffix(source->name, ".artifact")) {
                put_credentials(run, resource);
                image_service_pull(resource, resource->service);
        }
        image_skip_present(resource, run->root);
        text = service_print(resource->service, source->path);
        run->has_unit = true;
        writer_put_unit(run->writer, source->path, resource->service, source->unit->readers, text);
}
