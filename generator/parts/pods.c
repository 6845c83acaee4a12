/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/pods.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/file-reference.h"
#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/value/unit-words.h"

char *pod_stem(const char *service) {
        g_autofree char *stem = g_strndup(service, strlen(service) - strlen(".service"));

        return g_strconcat(stem, name_is_template(service) ? "%i" : "", NULL);
}

void pod_add_user_namespace(const Conversion *pod, GString *line) {
        const LaunchArgs *args = pod->args;

        unit_words_add_option(line, "--userns", args->userns);
        unit_words_add_options(line, "--uidmap", args->uidmaps);
        unit_words_add_options(line, "--gidmap", args->gidmaps);
        unit_words_add_option(line, "--subuidname", args->subuidname);
        unit_words_add_option(line, "--subgidname", args->subgidname);
}

char *pod_user_namespace(const Conversion *pod) {
        const char *mode = pod->args->userns;
        bool is_kept = pod->is_users && mode && g_str_has_prefix(mode, "keep-id");
        g_autoptr(GString) words = g_string_new(NULL);
        g_autofree char *digest = NULL;

        if (!pod->is_users && !user_namespace_is_own(pod->args))
                return NULL;
        pod_add_user_namespace(pod, words);
        digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, words->str, -1);
        return g_strdup_printf("%s-%.8s", is_kept ? NAME_POD_KEPT : NAME_POD_USER, digest);
}

/* The file that a container's Pod= means: in a template, "web@.pod" is "web@%i.pod". Transfer full. */
static char *find_file(const char *named, const char *service) {
        g_autofree char *instance = name_has_at(service) && name_is_template(named) ? name_instance(named, "%i") :
                                                                                      g_strdup(named);

        return unit_names_expand(instance, service);
}

bool handle_pod(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *file = find_file(value->text, container->service->name), *template = NULL;
        g_auto(FileReference) pod = { 0 };

        if (!g_str_has_suffix(file, ".pod"))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no .pod file: only such pods have a service that makes them", file);
        if (!file_reference_find(container, file, &pod, error))
                return false;
        template = name_template_of(file);
        if (!g_str_equal(pod.source->name, file) && g_strcmp0(pod.source->name, template) != 0)
                return error_set(error, KT_ERROR_NOT_FOUND, "'%s' makes no service", file); /* another file does */
        container->pod.file = pod.source;
        g_free(container->pod.service);
        container->pod.service = g_steal_pointer(&pod.service);
        return true;
}

/* file: as Pod= of its containers names it, "web.pod", "web@one.pod" or "web@%i.pod". */
static bool is_member(const SourceFile *source, const char *file, const UnitNames *names) {
        g_autofree char *named = NULL, *expanded = NULL;
        const char *service;

        if (!source->unit || !g_str_has_suffix(source->name, ".container"))
                return false;
        named = unit_file_value(source->unit, "Container", "Pod");
        service = named ? unit_names_service(names, source, NULL) : NULL;
        if (!service || (strchr(file, '%') && !name_has_at(service)))
                return false;
        expanded = find_file(named, service);
        return g_strcmp0(expanded, file) == 0;
}

/* "web@%i.pod" of a template. Transfer full. */
static char *find_own_file(const SourceFile *pod) {
        return name_is_template(pod->name) ? name_instance(pod->name, "%i") : g_strdup(pod->name);
}

bool pod_starts(const SourceFile *container) {
        const UnitLine *line = unit_section_last(unit_file_section(container->unit, "Container"), "StartWithPod");
        g_autofree char *text = line ? words_unquote(line->value) : NULL;
        bool started = true;

        return !text || (key_parse_boolean(text, &started, NULL) && started);
}

/* Of a pod that is none, a template is started by nobody: only its instances are. */
GPtrArray *pod_find_started(const Conversion *pod) {
        const GPtrArray *files = unit_names_files(pod->names);
        GPtrArray *started = g_ptr_array_new();
        g_autofree char *file = find_own_file(pod->source);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *source = files->pdata[i];

                if (is_member(source, file, pod->names) && pod_starts(source) &&
                    name_is_template(source->name) <= name_is_template(pod->source->name) &&
                    unit_names_service(pod->names, source, NULL))
                        g_ptr_array_add(started, (void *) source);
        }
        return started;
}

bool pod_shares(const Conversion *pod, const char *kind) {
        g_auto(GStrv) kinds = g_strsplit(pod->pod.share, ",", -1);

        return g_strv_contains((const char *const *) kinds, kind);
}

/* Its name as far as it is known here; NULL where systemd has to complete it. Transfer full. */
static char *find_name(const SourceFile *source, const UnitNames *names) {
        g_autofree char *given = unit_file_value(source->unit, "Container", "ContainerName");
        const char *service = unit_names_service(names, source, NULL);
        g_autofree char *stem = service ? pod_stem(service) : NULL;

        if (given)
                return unit_word_is_unexpanded(given) ? NULL : g_steal_pointer(&given);
        return stem && !name_has_at(stem) ? g_strconcat("systemd-", stem, NULL) : NULL;
}

/* Those of an instance, if it is known, are not known to the others. */
GPtrArray *pod_find_names(const Conversion *pod) {
        const GPtrArray *files = unit_names_files(pod->names);
        GPtrArray *found = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *own = find_own_file(pod->source), *stem = pod_stem(pod->service->name), *instance = NULL;

        if (name_is_template(pod->source->name))
                instance = name_instance(pod->source->name, strchr(stem, '@') + 1);
        for (guint i = 0; i < files->len; i++) {
                bool is_in = is_member(files->pdata[i], own, pod->names) ||
                             (instance && is_member(files->pdata[i], instance, pod->names));
                char *name = is_in ? find_name(files->pdata[i], pod->names) : NULL;

                if (name)
                        g_ptr_array_add(found, name);
        }
        return found;
}
