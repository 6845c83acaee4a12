/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/files/unit-names.h"
#include "libstart/base/error.h"

struct UnitNames {
        const Sources *sources;
        GHashTable *services;   /* file name -> service; not of masked files */
        GHashTable *makers;     /* service -> SourceFile that makes it */
        GHashTable *containers; /* container's name -> the first SourceFile that makes it */
        GHashTable *errors;     /* file name -> GError */
};

const UnitLine *unit_names_line(const SourceFile *file) {
        const char *name = name_section(file->name);
        const UnitSection *section = file->unit ? unit_file_section(file->unit, name) : NULL;

        return unit_section_last(section, "ServiceName");
}

/* The service that the file asks for, whoever makes it. Transfer full; NULL with an error where it is no name. */
static char *find_wanted(const SourceFile *file, GError **error) {
        const UnitLine *line = unit_names_line(file);
        g_autofree char *wanted = line ? words_unquote(line->value) : NULL;

        return name_service(file->name, wanted && wanted[0] ? wanted : NULL, error);
}

char *unit_names_expand(const char *text, const char *service) {
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));
        const char *at = strchr(stem, '@');
        GString *expanded = g_string_new(text);

        g_string_replace(expanded, "%N", stem, 0);
        if (at && at[1])
                g_string_replace(expanded, "%i", at + 1, 0);
        return g_string_free(expanded, FALSE);
}

/* ContainerName=, as systemd will expand it where nothing in it depends on anything but the service. Transfer full;
 * NULL: there is no container, or one for each instance. */
static char *find_container_name(const SourceFile *file, const char *service) {
        g_autofree char *name = NULL;

        if (!file->unit || !g_str_has_suffix(file->name, ".container") || name_is_template(service))
                return NULL;
        name = unit_file_value(file->unit, "Container", "ContainerName");
        return unit_names_expand(name ?: "systemd-%N", service);
}

static void add_container(UnitNames *names, SourceFile *file, const char *service) {
        char *name = find_container_name(file, service);

        if (name && !g_hash_table_contains(names->containers, name))
                g_hash_table_insert(names->containers, name, file);
        else
                g_free(name);
}

static void add_file(UnitNames *names, SourceFile *file) {
        GError *error = NULL;
        char *service = find_wanted(file, &error);
        SourceFile *maker = service ? g_hash_table_lookup(names->makers, service) : NULL;

        if (maker)
                error_set(&error, KT_ERROR_USAGE, "makes '%s', which %s makes already: rename one of them", service,
                          maker->path);
        if (error)
                g_hash_table_insert(names->errors, file->name, error);
        else {
                g_hash_table_insert(names->makers, service, file);
                add_container(names, file, service);
        }
        if (service)
                g_hash_table_insert(names->services, file->name, service);
}

UnitNames *unit_names_new(const Sources *sources) {
        UnitNames *names = g_new0(UnitNames, 1);

        names->sources = sources;
        names->services = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        names->makers = g_hash_table_new(g_str_hash, g_str_equal);
        names->containers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        names->errors = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_error_free);
        for (guint i = 0; i < sources->files->len; i++) {
                SourceFile *file = sources->files->pdata[i];

                if (!file->is_masked)
                        add_file(names, file);
        }
        return names;
}

void unit_names_free(UnitNames *names) {
        g_hash_table_unref(names->makers);
        g_hash_table_unref(names->containers);
        g_hash_table_unref(names->services);
        g_hash_table_unref(names->errors);
        g_free(names);
}

const char *unit_names_service(const UnitNames *names, const SourceFile *file, GError **error) {
        const GError *problem = g_hash_table_lookup(names->errors, file->name);

        if (problem) {
                g_propagate_error(error, g_error_copy(problem));
                return NULL;
        }
        return g_hash_table_lookup(names->services, file->name);
}

const GPtrArray *unit_names_files(const UnitNames *names) {
        return names->sources->files;
}

const SourceFile *unit_names_maker(const UnitNames *names, const char *service) {
        return g_hash_table_lookup(names->makers, service);
}

/* "foo@bar.container" where only "foo@.container" is there. */
static char *translate_instance(const UnitNames *names, const char *word) {
        g_autofree char *template = name_template_of(word);
        const char *service = template ? g_hash_table_lookup(names->services, template) : NULL;
        const char *at = strchr(word, '@');

        if (!service)
                return NULL;
        if (!name_is_template(service))
                return g_strdup(service);
        g_autofree char *instance = g_strndup(at + 1, (size_t) (name_suffix(word) - at - 1));
        return name_instance(service, instance);
}

char *unit_names_translate(const UnitNames *names, const char *word, GError **error) {
        const char *service = g_hash_table_lookup(names->services, word);

        if (!name_suffix(word))
                return g_strdup(word);
        if (service)
                return g_strdup(service);
        return translate_instance(names, word) ?:
                       error_null(error, KT_ERROR_NOT_FOUND, "'%s': there is no such file in the search path", word);
}

const SourceFile *unit_names_refer(const UnitNames *names, const char *file, char **ret_service, GError **error) {
        g_autofree char *service = unit_names_translate(names, file, error);
        g_autofree char *template = service ? name_template_of(service) : NULL;
        const SourceFile *source = service ? unit_names_maker(names, service) : NULL;

        if (!service)
                return NULL;
        if (!source && template)
                source = unit_names_maker(names, template);
        if (!source || !source->unit)
                return error_null(error, KT_ERROR_NOT_FOUND, "'%s' cannot be read", file);
        *ret_service = g_steal_pointer(&service);
        return source;
}

const char *unit_names_container(const UnitNames *names, const char *container_name) {
        const SourceFile *file = g_hash_table_lookup(names->containers, container_name);

        return file ? g_hash_table_lookup(names->services, file->name) : NULL;
}

const SourceFile *unit_names_twin(const UnitNames *names, const SourceFile *file) {
        const char *service = g_hash_table_lookup(names->services, file->name);
        g_autofree char *name = service ? find_container_name(file, service) : NULL;
        const SourceFile *first = name ? g_hash_table_lookup(names->containers, name) : NULL;

        return first != file ? first : NULL;
}
