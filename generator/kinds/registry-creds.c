/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/registry-creds.h"
#include "libstart/base/error.h"
#include "libstart/store/reference.h"

/* It is told to nobody else: everybody can ask systemd for a command line. */
bool handle_creds(Conversion *container, const Key *key, const Value *value, GError **error) {
        const char *percent = strchr(value->text, '%');

        container->user = g_strdup(value->text);
        if (!strchr(value->text, ':'))
                return error_set(error, KT_ERROR_USAGE, "there is no ':' between user and password");
        return !percent ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "systemd's specifiers do not work here, and so there can be no '%%': use AuthFile=");
}

/* {"auths": {"REGISTRY": {"auth": "BASE64"}}}. The registry's name is one that reference_parse() takes: no quotes in
 * it. */
GString *registry_creds_file(const Conversion *container) {
        const char *image = container->image.name ? reference_skip_docker(container->image.name) : "";
        GString *text = container->user ? g_string_new(NULL) : NULL;
        g_autofree char *auth = NULL;

        if (!text)
                return NULL;
        auth = g_base64_encode((const guchar *) container->user, strlen(container->user));
        g_string_printf(text, "{\"auths\": {\"%.*s\": {\"auth\": \"%s\"}}}\n", (int) strcspn(image, "/"), image,
                        auth);
        return text;
}

void registry_creds_check(Conversion *container, const char *key) {
        const UnitLine *line = conversion_line(container, container->section, "Creds"),
                       *file = conversion_line(container, container->section, "AuthFile");
        g_autoptr(Reference) reference = container->image.name ?
                                                 reference_parse(reference_skip_docker(container->image.name), NULL) :
                                                 NULL;

        if (!container->user)
                return;
        if (!reference || reference->is_short || !reference->repository)
                conversion_problem(container, line, "%s= must name the registry that they are for", key);
        if (file && file->value[0])
                conversion_problem(container, line, "AuthFile= is given, too; remove one of the two");
        if (!container->is_refused && container->source->unit->readers != READERS_NONE)
                conversion_warning(container, line, "others may read this file, and so the password: chmod 600");
}
