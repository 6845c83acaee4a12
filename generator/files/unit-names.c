/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/files/unit-names.h"
#include "libstart/base/error.h"

struct UnitNames {
        const Sources *sources;
        GHashTable *services; /* file name -> service; not of masked files */
        GHashTable *makers;   /* service -> SourceFile that makes it */
        GHashTable *errors;   /* file name -> GError */
};

static void free_error(void *data) {
        g_error_free(data);
}

const UnitLine *unit_names_line(const SourceFile *file) {
        const char *name = name_section(file->name) ?: name_podmans_section(file->name);
        const UnitSection *section = file->unit ? unit_file_section(file->unit, name) : NULL;

        return unit_section_last(section, "ServiceName");
}

char *unit_names_wanted(const SourceFile *file, GError **error) {
        const UnitLine *line = unit_names_line(file);
        g_autofree char *wanted = line ? words_unquote(line->value) : NULL;

        return name_service(file->name, wanted && wanted[0] ? wanted : NULL, error);
}

static void add_file(UnitNames *names, SourceFile *file) {
        GError *error = NULL;
        char *service = unit_names_wanted(file, &error);
        SourceFile *maker = service ? g_hash_table_lookup(names->makers, service) : NULL;

        if (maker)
                error_set(&error, KT_ERROR_USAGE, "makes '%s', which %s makes already: rename one of them", service,
                          maker->path);
        if (error)
                g_hash_table_insert(names->errors, file->name, error);
        else
                g_hash_table_insert(names->makers, service, file);
        if (service)
                g_hash_table_insert(names->services, file->name, service);
}

UnitNames *unit_names_new(const Sources *sources, bool beside_podman) {
        UnitNames *names = g_new0(UnitNames, 1);

        names->sources = sources;
        names->services = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        names->makers = g_hash_table_new(g_str_hash, g_str_equal);
        names->errors = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_error);
        for (guint i = 0; i < sources->files->len; i++) {
                SourceFile *file = sources->files->pdata[i];

                if (!file->is_masked &&
                    (name_makes_service(file->name) || (beside_podman && name_podmans_section(file->name))))
                        add_file(names, file);
        }
        return names;
}

void unit_names_free(UnitNames *names) {
        if (!names)
                return;
        g_hash_table_unref(names->makers);
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
        const char *suffix = name_suffix(word), *service;
        char *instance;

        if (!suffix)
                return g_strdup(word);
        service = g_hash_table_lookup(names->services, word);
        if (!service && !name_makes_service(suffix)) {
                error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "'%s': %s files are Podman's, and there is no such file, or Podman's generator is not active",
                        word, suffix);
                return NULL;
        }
        if (service)
                return g_strdup(service);
        instance = translate_instance(names, word);
        if (!instance)
                error_set(error, KT_ERROR_NOT_FOUND, "'%s': there is no such file in the search path", word);
        return instance;
}

const SourceFile *unit_names_refer(const UnitNames *names, const char *file, char **ret_service, GError **error) {
        g_autofree char *service = unit_names_translate(names, file, error);
        const SourceFile *source = service ? unit_names_maker(names, service) : NULL;

        if (!service)
                return NULL;
        if (!source || !source->unit) {
                error_set(error, KT_ERROR_NOT_FOUND, "'%s' cannot be read", file);
                return NULL;
        }
        *ret_service = g_steal_pointer(&service);
        return source;
}

/* ContainerName=, as systemd will expand it where nothing in it depends on anything but the service. Transfer full. */
static char *find_container_name(const SourceFile *file, const char *service) {
        const UnitLine *line = unit_section_last(unit_file_section(file->unit, "Container"), "ContainerName");
        g_autofree char *name = line ? words_unquote(line->value) : NULL;
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));
        g_auto(GStrv) parts = g_strsplit(name && name[0] ? name : "systemd-%N", "%N", -1);

        return g_strjoinv(stem, parts);
}

const char *unit_names_container(const UnitNames *names, const char *container_name) {
        GHashTableIter iterator;
        void *service, *file;

        g_hash_table_iter_init(&iterator, names->makers);
        while (g_hash_table_iter_next(&iterator, &service, &file)) {
                const SourceFile *source = file;
                bool is_container = source->unit && g_str_has_suffix(source->name, ".container");
                g_autofree char *name = is_container ? find_container_name(source, service) : NULL;

                if (g_strcmp0(name, container_name) == 0)
                        return service;
        }
        return NULL;
}
