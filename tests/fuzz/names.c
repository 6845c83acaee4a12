/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/load.h"
#include "generator/files/names.h"
#include "tests/fuzz/fuzz.h"

/* The names of files make names of units, which have no '/' and begin with no dot. */
static void check_service(const char *file_name, const char *service_name) {
        g_autoptr(GError) error = NULL;
        g_autofree char *service = name_service(file_name, service_name, &error);

        require_error(service, error, service_name ? service_name : file_name);
        require(!service || (name_is_unit(service) && !strchr(service, '/') && g_str_has_suffix(service, ".service")),
                "the service is '%s'", service);
        if (service && name_is_template(service)) {
                g_autofree char *instance = name_instance(service, "x");
                g_autofree char *template = name_template_of(instance);

                require(g_strcmp0(template, service) == 0, "'%s' is no instance of '%s'", instance, service);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_autofree char *text = fuzz_text(data, size), *name = g_strconcat(text, ".container", NULL);
        g_autofree char *template = name_template_of(text);
        g_autoptr(GPtrArray) search_path = load_search_path(text), directories = NULL;

        check_service("a.container", text);
        require(!template || name_is_template(template), "'%s' is no template", template);
        for (guint i = 0; i < search_path->len; i++)
                require(*(char *) search_path->pdata[i], "an empty directory");
        if (strchr(text, '/') || !name_suffix(name))
                return 0;
        check_service(name, NULL);
        directories = name_dropin_dirs(name);
        for (guint i = 0; i < directories->len; i++)
                require(g_str_has_suffix(directories->pdata[i], ".d"), "'%s' has no drop-ins",
                        (char *) directories->pdata[i]);
        return 0;
}
