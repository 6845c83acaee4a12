/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/base/string-prefix.h"

#define UNIT_NAME_MAX 255

bool name_has_at(const char *name) {
        return strchr(name, '@');
}

bool name_is_template(const char *name) {
        const char *at = strchr(name, '@'), *dot = strrchr(name, '.');

        return at && dot == at + 1;
}

/* The types that keyturn makes services of, with Podman's names. */
typedef struct Type {
        const char *suffix, *section, *infix;
} Type;

static const Type types[] = {
        { ".artifact", "Artifact", "-artifact" },
        { ".build", "Build", "-build" },
        { ".container", "Container", "" },
        { ".image", "Image", "-image" },
        { ".kube", "Kube", "" },
        { ".network", "Network", "-network" },
        { ".pod", "Pod", "-pod" },
        { ".volume", "Volume", "-volume" },
};

static const Type *find_type(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (g_str_has_suffix(name, types[i].suffix))
                        return &types[i];
        return NULL;
}

const char *name_suffix(const char *name) {
        const char *dot = strrchr(name, '.');

        return dot != name && find_type(name) ? dot : NULL;
}

const char *name_section(const char *name) {
        const Type *type = find_type(name);

        return type ? type->section : NULL;
}

char *name_template_of(const char *name) {
        const char *at = strchr(name, '@'), *dot = strrchr(name, '.');

        if (!at || !dot || dot <= at + 1)
                return NULL;
        return g_strdup_printf("%.*s%s", (int) (at + 1 - name), name, dot);
}

char *name_instance(const char *template, const char *instance) {
        const char *at = strchr(template, '@');

        return g_strdup_printf("%.*s%s%s", (int) (at + 1 - template), template, instance, at + 1);
}

bool name_is_unit(const char *name) {
        const char *dot = strrchr(name, '.');

        if (!dot || dot == name || !dot[1] || name[0] == '@' || strlen(name) > UNIT_NAME_MAX)
                return false;
        for (const char *c = name; *c; c++)
                if (!g_ascii_isalnum(*c) && !strchr(":-_.\\@", *c))
                        return false;
        return true;
}

/* The services that keyturn itself has. */
static bool is_reserved(const char *service) {
        static const char *const reserved[] = { "keyturn-cdi.service",     "keyturn-relay.service",
                                                "keyturn-seccomp.service", "keyturn-stop@.service",
                                                "keyturn-update.service",  NULL };
        /* And what is made for a container, or of a template. */
        static const char *const starts[] = {
                "keyturn-copies", "keyturn-copy",  "keyturn-idle",   "keyturn-network", "keyturn-pasta",
                "keyturn-ports",  "keyturn-pull-", "keyturn-userns", "keyturn-view",    NULL
        };

        return string_prefix(service, starts) || g_strv_contains(reserved, service);
}

const char *name_state_directory(const char *service) {
        static const char *const taken[] = { NAME_SECCOMP ".service", NAME_RELAY ".service",
                                             NAME_NETWORK ".service", NAME_POD ".service",
                                             NAME_USERNS ".service",  NAME_CDI ".service",
                                             NAME_KUBE ".service",    NULL };

        return g_strv_contains(taken, service) ? "keyturn/+%N" : "keyturn/%N";
}

/* Without the suffix: *ret_instance is the '@' and what is behind it, or the end. Returns the length before it. */
static size_t split_name(const char *file_name, const char **ret_instance) {
        const char *end = name_suffix(file_name), *at = strchr(file_name, '@');

        *ret_instance = at && at < end ? at : end;
        return (size_t) (*ret_instance - file_name);
}

char *name_default(const char *file_name) {
        const char *instance, *end = name_suffix(file_name);
        size_t length = split_name(file_name, &instance);

        if (instance == end)
                return g_strdup_printf("systemd-%.*s", (int) length, file_name);
        instance++;
        return g_strdup_printf("systemd-%.*s-%.*s", (int) length, file_name,
                               instance == end ? 2 : (int) (end - instance), instance == end ? "%i" : instance);
}

/* Podman's name for it, of templates that of 5.7 and later. Transfer full. */
static char *default_service(const char *file_name) {
        const char *instance;
        size_t length = split_name(file_name, &instance);

        return g_strdup_printf("%.*s%s%.*s.service", (int) length, file_name, find_type(file_name)->infix,
                               (int) (name_suffix(file_name) - instance), instance);
}

char *name_service(const char *file_name, const char *service_name, GError **error) {
        g_autofree char *service = !service_name ? default_service(file_name) :
                                   g_str_has_suffix(service_name, ".service") ?
                                                   g_strdup(service_name) :
                                                   g_strconcat(service_name, ".service", NULL);

        if (!name_is_unit(service))
                return error_null(error, KT_ERROR_USAGE,
                                  "'%s' is no name of a unit: letters, digits and ':-_.\\@', at most %d in all",
                                  service, UNIT_NAME_MAX);
        if (is_reserved(service))
                return error_null(error, KT_ERROR_USAGE,
                                  "'%s' is a name that keyturn needs itself: rename the file or set ServiceName=",
                                  service);
        return g_steal_pointer(&service);
}

static void add_dir(GPtrArray *dirs, const char *name, size_t length, const char *infix, const char *suffix) {
        g_ptr_array_add(dirs, g_strdup_printf("%.*s%s%s.d", (int) length, name, infix, suffix));
}

GPtrArray *name_dropin_dirs(const char *file_name) {
        GPtrArray *dirs = g_ptr_array_new_with_free_func(g_free);
        const char *suffix = name_suffix(file_name), *at = strchr(file_name, '@');
        size_t stem = (size_t) ((at ? at : suffix) - file_name);

        g_ptr_array_add(dirs, g_strconcat(file_name, ".d", NULL));
        if (at && at + 1 != suffix)
                add_dir(dirs, file_name, stem, "@", suffix);
        for (size_t i = stem; i > 0; i--) {
                if (file_name[i - 1] != '-' || i == stem)
                        continue;
                if (at)
                        add_dir(dirs, file_name, i, "@", suffix);
                add_dir(dirs, file_name, i, "", suffix);
        }
        g_ptr_array_add(dirs, g_strconcat(suffix + 1, ".d", NULL));
        return dirs;
}
