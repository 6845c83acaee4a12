/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/pods.h"
#include "libstart/base/error.h"

char *pod_stem(const char *service) {
        return g_strndup(service, strlen(service) - strlen(".service"));
}

bool handle_pod(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *service = NULL, *name = unit_names_expand(value->text, container->service->name);
        const SourceFile *pod;

        if (!g_str_has_suffix(name, ".pod"))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no .pod file: only such pods have a service that makes them", name);
        service = unit_names_translate(container->names, name, error);
        if (!service)
                return false;
        pod = unit_names_maker(container->names, service);
        if (!pod || !g_str_equal(pod->name, name)) /* another file makes a service of that name */
                return error_set(error, KT_ERROR_NOT_FOUND, "'%s' makes no service", name);
        container->pod = pod;
        return pod->unit || error_set(error, KT_ERROR_NOT_FOUND, "'%s' cannot be read", name);
}

static char *file_value(const SourceFile *source, const char *key) {
        const UnitLine *line = unit_section_last(unit_file_section(source->unit, "Container"), key);

        return line ? words_unquote(line->value) : NULL;
}

static bool is_member(const SourceFile *source, const SourceFile *pod, const UnitNames *names) {
        g_autofree char *named = NULL, *expanded = NULL;
        const char *service;

        if (!source->unit || !g_str_has_suffix(source->name, ".container"))
                return false;
        named = file_value(source, "Pod");
        service = named ? unit_names_service(names, source, NULL) : NULL;
        expanded = service ? unit_names_expand(named, service) : NULL;
        return g_strcmp0(expanded ?: named, pod->name) == 0;
}

/* A template is started by nobody: only its instances are. */
static bool is_started(const SourceFile *source) {
        g_autofree char *text = file_value(source, "StartWithPod");
        bool started = true;

        if (text && !key_parse_boolean(text, &started, NULL))
                started = false;
        return started && !name_is_template(source->name);
}

GPtrArray *pod_find_started(const SourceFile *pod, const UnitNames *names) {
        const GPtrArray *files = unit_names_files(names);
        GPtrArray *started = g_ptr_array_new();

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *source = files->pdata[i];

                if (is_member(source, pod, names) && is_started(source) && unit_names_service(names, source, NULL))
                        g_ptr_array_add(started, (void *) source);
        }
        return started;
}

bool pod_shares(const Container *pod, const char *kind) {
        g_auto(GStrv) kinds = g_strsplit(pod->share, ",", -1);

        return g_strv_contains((const char *const *) kinds, kind);
}

/* Its name as far as it is known here; NULL where systemd has to complete it. Transfer full. */
static char *find_name(const SourceFile *source, const UnitNames *names) {
        g_autofree char *given = file_value(source, "ContainerName");
        const char *service = unit_names_service(names, source, NULL);
        g_autofree char *stem = service ? pod_stem(service) : NULL;

        if (given && given[0])
                return strpbrk(given, "%$") ? NULL : g_steal_pointer(&given);
        return stem && !name_has_at(stem) ? g_strconcat("systemd-", stem, NULL) : NULL;
}

GPtrArray *pod_find_names(const SourceFile *pod, const UnitNames *names) {
        const GPtrArray *files = unit_names_files(names);
        GPtrArray *found = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < files->len; i++) {
                char *name = is_member(files->pdata[i], pod, names) ? find_name(files->pdata[i], names) : NULL;

                if (name)
                        g_ptr_array_add(found, name);
        }
        return found;
}
