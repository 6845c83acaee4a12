/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/install.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/resource.h"
#include "generator/network/network-references.h"
#include "generator/parts/image-service.h"
#include "generator/parts/images.h"
#include "generator/parts/mounts.h"
#include "generator/parts/volumes.h"
#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/base/string-prefix.h"
#include "libstart/store/reference.h"
#include "libstart/value/unit-words.h"

static void add_option(Conversion *container, const char *option, const char *value, const UnitLine *line) {
        g_autofree char *word = g_strconcat("--", option, "=", value, NULL);

        noted_add(container->podman.args, word, line);
}

/* podman and buildah have the same options, which key->text names. */
static bool handle_build_option(Conversion *container, const Key *key, const Value *value, GError **error) {
        add_option(container, key->text, value->text, value->line);
        return true;
}

/* The first one is the name that others know it by. */
static bool handle_image_tag(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *tag = words_unquote(value->text);
        g_autoptr(Reference) reference = unit_word_is_unexpanded(tag) ? NULL : reference_parse(tag, error);

        if (!reference && !unit_word_is_unexpanded(tag))
                return false;
        if (!container->image.name)
                container->image.name = g_strdup(tag);
        add_option(container, "tag", tag, value->line);
        return true;
}

static bool handle_build_network(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *name = g_strndup(value->text, strcspn(value->text, ":")), *service = NULL, *found = NULL;

        if (g_str_has_suffix(name, ".container"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': a build has the network host, none, or one by its own name or .network file",
                                 name);
        if (!g_str_has_suffix(name, ".network"))
                return handle_build_option(container, key, value, error);
        found = network_refer(container, value->text, &service, error);
        if (!found)
                return false;
        service_order_after(container->service, "Requires", service);
        add_option(container, key->text, found, value->line);
        return true;
}

static bool handle_build_volume(Conversion *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, ":");
        g_autofree char *source = g_strndup(value->text, length), *found = NULL, *whole = NULL;
        bool no_copy;

        if (volume_is_file(source))
                found = volume_refer(container, source, &no_copy, error);
        else
                found = source[0] == '.' ? key_resolve_path(container->source->directory, source) : g_strdup(source);
        if (!found)
                return false;
        whole = g_strconcat(found, value->text + length, NULL);
        mounts_add_volume(container, whole); /* what is run may make links there, as payloads may */
        add_option(container, "volume", whole, value->line);
        return true;
}

static const Key build_keys[] = {
        { "Annotation", READ_PAIRS, handle_build_option, "annotation" },
        { "Arch", READ_LAST, handle_build_option, "arch" },
        { "AuthFile", READ_LAST, handle_build_option, "authfile" },
        { "BuildArg", READ_PAIRS, handle_build_option, "build-arg" },
        { "ContainersConfModule", READ_LINES, handle_tool_option, "global-arg=--module" },
        { "DNS", READ_LINES, handle_build_option, "dns" },
        { "DNSOption", READ_LINES, handle_build_option, "dns-option" },
        { "DNSSearch", READ_LINES, handle_build_option, "dns-search" },
        { "Environment", READ_PAIRS, handle_build_option, "env" },
        { "File", READ_LAST, handle_build_option, "file" },
        { "ForceRM", READ_BOOLEAN, handle_build_option, "force-rm" },
        { "GlobalArgs", READ_ARGS, handle_tool_option, "global-arg" },
        { "GroupAdd", READ_LINES, handle_build_option, "group-add" },
        { "IgnoreFile", READ_LAST, handle_build_option, "ignorefile" },
        { "ImageTag", READ_LINES, handle_image_tag, NULL },
        { "Label", READ_PAIRS, handle_build_option, "label" },
        { "Network", READ_LINES, handle_build_network, "network" },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "Pull", READ_LAST, handle_build_option, "pull" },
        { "Retry", READ_LAST, handle_build_option, "retry" },
        { "RetryDelay", READ_LAST, handle_build_option, "retry-delay" },
        { "Secret", READ_ARGS, handle_build_option, "secret" },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "SetWorkingDirectory", READ_LAST, handle_nothing, NULL },
        { "TLSVerify", READ_BOOLEAN, handle_build_option, "tls-verify" },
        { "Target", READ_LAST, handle_build_option, "target" },
        { "Variant", READ_LAST, handle_build_option, "variant" },
        { "Volume", READ_LINES, handle_build_volume, NULL },
};

static const KeyTable keys_build = { "Build", build_keys, G_N_ELEMENTS(build_keys) };

/* Podman's list. */
static bool is_url(const char *path) {
        static const char *const prefixes[] = { "http://", "https://", "git://", "github.com/", NULL };

        return string_prefix(path, prefixes);
}

static char *directory_of(const Conversion *container, const char *file) {
        g_autofree char *path = key_resolve_path(container->source->directory, file);

        return g_path_get_dirname(path);
}

static bool is_word(const char *wanted, const char *word) {
        return wanted && g_ascii_strcasecmp(wanted, word) == 0;
}

/* The directory of the service, by "unit" or "file". Transfer full. */
static char *find_working_directory(Conversion *container, const char *wanted, const char *file) {
        char *directory = NULL;

        if (is_word(wanted, "unit"))
                directory = specifiers_escape(container->source->directory, "%");
        else if (is_word(wanted, "file") && file && !is_url(file))
                directory = directory_of(container, file);
        if (directory)
                service_set(container->service, "WorkingDirectory", directory);
        return directory;
}

/* Where the files are that the build may copy; NULL where podman finds them. Transfer full. */
static char *find_context(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "WorkingDirectory");
        g_autofree char *wanted = unit_file_value(container->source->unit, "Build", "SetWorkingDirectory"),
                        *file = unit_file_value(container->source->unit, "Build", "File"), *directory = NULL;

        if (wanted && (is_url(wanted) || wanted[0] == '/'))
                return g_steal_pointer(&wanted);
        /* The user's counts instead, also where podman build begins at an absolute path. */
        if (line && (!file || (file[0] != '/' && !is_url(file))))
                return g_strdup(line->value + (line->value[0] == '-')); /* it need not be there */
        if (wanted && !line && !is_word(wanted, "unit") && !is_word(wanted, "file"))
                return key_resolve_path(container->source->directory, wanted);
        directory = line ? NULL : find_working_directory(container, wanted, file);
        if (directory)
                return g_steal_pointer(&directory);
        if (!file)
                conversion_problem(container, conversion_line(container, "Build", "SetWorkingDirectory"),
                                   wanted ? "'file' needs File=" : "SetWorkingDirectory= or File= must be given");
        else if (file[0] != '/' && file[0] != '%' && !is_url(file))
                conversion_problem(container, conversion_line(container, "Build", "File"),
                                   "a relative path needs SetWorkingDirectory=");
        else if (!is_url(file))
                return g_path_get_dirname(file);
        return NULL;
}

static void check_users(Conversion *container) {
        const UnitLine *line = conversion_line_with(container, "Build", "Network", ".network");

        if (container->is_users && line)
                conversion_problem(container, line,
                                   "a user's build has no network of a .network file: write host or none");
}

Conversion *build_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Conversion *container = resource_new(source, service_name, names, conf, &keys_build);

        check_users(container);
        image_service_common(container, container->service, IMAGE_BUILD_AGAIN);
        if (!container->image.name)
                conversion_problem(container, NULL, "ImageTag= must be given: the name of the image");
        else {
                g_autofree char *context = find_context(container);

                image_service_build(container, context);
                container->image.wanted = g_strdup(container->image.name);
        }
        install_apply(container);
        return container;
}
