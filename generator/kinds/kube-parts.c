/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/kube-parts.h"
#include "generator/parts/volumes.h"
#include "generator/unit/key.h"
#include "keyturn-config.h"
#include "libstart/value/unit-words.h"

bool kube_parts_has(const Conversion *kube, const SourceFile *file) {
        return file != kube->source && g_str_equal(file->path, kube->source->path);
}

/* The .kube file that this is made of; NULL: a person has written it. */
static const SourceFile *find_kube(const Conversion *part) {
        const GPtrArray *files = unit_names_files(part->names);

        if (!g_str_has_suffix(part->source->path, ".kube"))
                return NULL;
        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];

                if (g_str_has_suffix(file->name, ".kube") && g_str_equal(file->path, part->source->path))
                        return file;
        }
        return NULL;
}

static bool is_init(const SourceFile *container) {
        g_autofree char *type = unit_file_value(container->unit, "Service", "Type");

        return g_strcmp0(type, "oneshot") == 0;
}

/* An init container that has ended is active, and its unit would want the target for ever. */
void kube_part_ends(Conversion *container) {
        const SourceFile *kube = find_kube(container);
        g_autofree char *policy = kube ? unit_file_value(kube->unit, "Kube", "ExitCodePropagation") : NULL,
                        *stem = NULL, *target = NULL;
        const char *service = policy ? unit_names_service(container->names, kube, NULL) : NULL;

        if (!service || is_init(container->source))
                return;
        stem = g_strndup(service, strlen(service) - strlen(".service"));
        target = g_strdup_printf("keyturn-kube@%s.target", stem);
        service_unit(container->service, "Wants", target);
}

GString *kube_parts_ended(const Conversion *kube) {
        const GPtrArray *files = unit_names_files(kube->names);
        g_autofree char *policy = unit_file_value(kube->source->unit, "Kube", "ExitCodePropagation");
        GString *command;
        bool has_one = false;

        if (!policy || g_str_equal(policy, "none"))
                return NULL;
        command = g_string_new(KEYTURN_LIBDIR "/keyturn-kube ended");
        unit_words_add(command, policy);
        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];
                g_autofree char *word = NULL;

                if (!kube_parts_has(kube, file) || !g_str_has_suffix(file->name, ".container"))
                        continue;
                word = g_strconcat(is_init(file) ? "init:" : "", unit_names_service(kube->names, file, NULL), NULL);
                unit_words_add(command, word);
                has_one |= !is_init(file);
        }
        if (!has_one) /* nothing that could end */
                g_string_free(g_steal_pointer(&command), TRUE);
        return command;
}

/* NAME:/PLACE:OPTIONS of Volume=, and type=volume,source=NAME of Mount=. */
static bool line_names(const UnitLine *line, const char *name) {
        bool is_mount = g_strcmp0(line->key, "Mount") == 0;
        g_auto(GStrv) words = NULL;

        if (!is_mount && g_strcmp0(line->key, "Volume") != 0)
                return false;
        words = g_strsplit(line->value, is_mount ? "," : ":", -1);
        if (!is_mount)
                return words[0] && g_str_equal(words[0], name);
        for (char **word = words; *word; word++)
                if ((g_str_has_prefix(*word, "source=") || g_str_has_prefix(*word, "src=")) &&
                    g_str_equal(strchr(*word, '=') + 1, name))
                        return true;
        return false;
}

static bool uses(const SourceFile *file, const char *name) {
        const UnitSection *section = unit_file_section(file->unit,
                                                       g_str_has_suffix(file->name, ".pod") ? "Pod" : "Container");

        for (guint i = 0; section && i < section->lines->len; i++)
                if (line_names(&g_array_index(section->lines, UnitLine, i), name))
                        return true;
        return false;
}

static bool describes(const SourceFile *file, const char *name) {
        g_autofree char *other = volume_file_name(file);

        return g_str_equal(other, name);
}

/* Another file that uses the volume, or says what is in it, would miss it. At the stop not every user is seen: one
 * has it in an overlay, another is not running. */
static const SourceFile *find_other(const Conversion *volume, const char *name) {
        const GPtrArray *files = unit_names_files(volume->names);

        for (guint i = 0; i < files->len; i++) {
                const SourceFile *file = files->pdata[i];

                if (file == volume->source || !file->unit)
                        continue;
                if (g_str_has_suffix(file->name, ".volume") ?
                            describes(file, name) :
                            !g_str_equal(file->path, volume->source->path) && uses(file, name))
                        return file;
        }
        return NULL;
}

bool kube_part_is_removed(Conversion *volume, const char *name) {
        const SourceFile *kube = find_kube(volume), *other;
        g_autofree char *value = kube ? unit_file_value(kube->unit, "Kube", "KubeDownForce") : NULL,
                        *claim = unit_file_value(volume->source->unit, "Volume", "VolumeName");
        const char *service = value && claim ? unit_names_service(volume->names, kube, NULL) : NULL;
        bool is_asked_for = false;

        if (!service || !key_parse_boolean(value, &is_asked_for, NULL) || !is_asked_for)
                return false;
        other = find_other(volume, name);
        if (other)
                conversion_warning(volume, NULL,
                                   "the volume '%s' is not removed for KubeDownForce=: '%s' (%s) has it, too", name,
                                   other->name, other->path);
        else
                service_unit(volume->service, "PartOf", service);
        return !other;
}
