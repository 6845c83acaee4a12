/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/install.h"
#include "generator/kinds/keys-build.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/resource.h"
#include "generator/network/network-references.h"
#include "generator/parts/image-service.h"
#include "generator/parts/images.h"
#include "generator/parts/volumes.h"
#include "generator/unit/keys.h"
#include "generator/unit/source-path.h"
#include "libstart/base/error.h"
#include "libstart/store/reference.h"

/* podman and buildah have the same options, which key->text names. */
static bool handle_build_option(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->podman_args, g_strconcat("--", key->text, "=", value->text, NULL));
        return true;
}

/* The first one is the name that others know it by. */
static bool handle_image_tag(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *tag = words_unquote(value->text);
        g_autoptr(Reference) reference = strpbrk(tag, "%$") ? NULL : reference_parse(tag, error);

        if (!reference && !strpbrk(tag, "%$"))
                return false;
        if (!container->image)
                container->image = g_strdup(tag);
        g_ptr_array_add(container->podman_args, g_strconcat("--tag=", tag, NULL));
        return true;
}

static bool handle_build_network(Container *container, const Key *key, const Value *value, GError **error) {
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
        g_ptr_array_add(container->podman_args, g_strconcat("--network=", found, NULL));
        return true;
}

static bool handle_build_volume(Container *container, const Key *key, const Value *value, GError **error) {
        size_t length = strcspn(value->text, ":");
        g_autofree char *source = g_strndup(value->text, length), *found = NULL, *whole = NULL;
        bool no_copy;

        if (g_str_has_suffix(source, ".volume"))
                found = volume_refer(container, source, &no_copy, error);
        else
                found = source[0] == '.' ? key_resolve_path(container->source->directory, source) : g_strdup(source);
        if (!found)
                return false;
        whole = g_strconcat("--volume=", found, value->text + length, NULL);
        g_ptr_array_add(container->podman_args, g_steal_pointer(&whole));
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
        static const char *const prefixes[] = { "http://", "https://", "git://", "github.com/" };

        for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
                if (g_str_has_prefix(path, prefixes[i]))
                        return true;
        return false;
}

static char *directory_of(const Container *container, const char *file) {
        g_autofree char *path = key_resolve_path(container->source->directory, file);

        return g_path_get_dirname(path);
}

/* The directory of the service, by "unit" or "file", or of the user's own [Service]. Transfer full. */
static char *find_working_directory(Container *container, const char *wanted, const char *file) {
        const UnitLine *line = service_user_line(container->service, "WorkingDirectory");
        char *directory = NULL;

        if (wanted && g_ascii_strcasecmp(wanted, "unit") == 0)
                directory = source_path_escape(container->source->directory, "%");
        else if (wanted && g_ascii_strcasecmp(wanted, "file") == 0) {
                if (file)
                        directory = directory_of(container, file);
                else
                        container_problem(container, container_line(container, "Build", "SetWorkingDirectory"),
                                          "'file' needs File=");
        }
        if (directory)
                service_set(container->service, "WorkingDirectory", directory);
        return directory || !line ? directory : g_strdup(line->value);
}

/* Where the files are that the build may copy; NULL where podman finds them. Transfer full. */
static char *find_context(Container *container) {
        g_autofree char *wanted = unit_file_value(container->source->unit, "Build", "SetWorkingDirectory"),
                        *file = unit_file_value(container->source->unit, "Build", "File"),
                        *directory = find_working_directory(container, wanted, file);

        if (directory)
                return g_steal_pointer(&directory);
        if (wanted)
                return g_steal_pointer(&wanted);
        if (!file)
                container_problem(container, NULL, "SetWorkingDirectory= or File= must be given");
        else if (file[0] != '/' && file[0] != '%' && !is_url(file))
                container_problem(container, container_line(container, "Build", "File"),
                                  "a relative path needs SetWorkingDirectory=");
        else if (!is_url(file))
                return g_path_get_dirname(file);
        return NULL;
}

static void check_users(Container *container) {
        const UnitLine *line = container_line_with(container, "Build", "Network", ".network");

        if (container->is_users && line)
                container_problem(container, line,
                                  "of users' files no .network becomes a service yet: write host or none");
}

Container *build_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Container *container = resource_new(source, service_name, names, &keys_build);

        container->is_users = keyturn_conf_is_users(conf);
        check_users(container);
        image_service_common(container, container->service, IMAGE_BUILD_AGAIN);
        if (!container->image)
                container_problem(container, NULL, "ImageTag= must be given: the name of the image");
        else {
                g_autofree char *context = find_context(container);

                image_service_build(container, context);
                container->wanted_image = g_strdup(container->image);
        }
        install_apply(container);
        return container;
}
