/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/kinds/install.h"
#include "generator/kinds/registry-creds.h"
#include "generator/kinds/resource.h"
#include "generator/parts/image-service.h"
#include "generator/parts/images.h"
#include "generator/unit/keys.h"
#include "libstart/store/reference.h"
#include "libstart/value/unit-words.h"

static bool handle_all_tags(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (g_str_equal(value->text, "true"))
                g_ptr_array_add(container->image.tool_words, g_strdup("--all-tags"));
        return true;
}

static bool handle_image_name(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autoptr(Reference) reference = NULL;

        container->image.name = g_strdup(value->text);
        if (unit_word_is_unexpanded(value->text) || reference_is_archive(value->text))
                return true;
        reference = reference_parse(reference_skip_docker(value->text), error);
        return reference;
}

static const Key image_keys[] = {
        { "AllTags", READ_BOOLEAN, handle_all_tags, NULL },
        { "Arch", READ_LAST, handle_tool_option, "arch" },
        { "AuthFile", READ_LAST, handle_tool_option, "authfile" },
        { "CertDir", READ_LAST, handle_tool_option, "cert-dir" },
        { "ContainersConfModule", READ_LINES, handle_tool_option, "global-arg=--module" },
        { "Creds", READ_LAST, handle_creds, NULL },
        { "DecryptionKey", READ_LAST, handle_tool_option, "decryption-key" },
        { "GlobalArgs", READ_ARGS, handle_tool_option, "global-arg" },
        { "Image", READ_LAST, handle_image_name, NULL },
        { "ImageTag", READ_LAST, handle_tool_option, "tag" },
        { "OS", READ_LAST, handle_tool_option, "os" },
        { "PodmanArgs", READ_ARGS, handle_tool_option, "podman-arg" },
        { "Policy", READ_LAST, handle_pull, NULL },
        { "Retry", READ_LAST, handle_retry, "retry" },
        { "RetryDelay", READ_LAST, handle_retry_delay, "retry-delay" },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "TLSVerify", READ_BOOLEAN, handle_tool_option, "tls-verify" },
        { "Variant", READ_LAST, handle_tool_option, "variant" },
};

static const KeyTable keys_image = { "Image", image_keys, G_N_ELEMENTS(image_keys) };

/* `podman image pull` would ask the registry at each boot, which keyturn's Pull= does only where it is written. */
static void set_policy(Conversion *container) {
        g_autofree char *tag = unit_file_value(container->source->unit, "Image", "ImageTag");

        if (!container->image.pull) {
                container->image.pull = g_strdup("missing");
                service_comment(container->service, "Policy=missing: the file itself does not say.");
        }
        if (g_str_equal(container->image.pull, "missing") && !conversion_line(container, "Image", "AllTags"))
                container->image.wanted = g_strdup(tag ?: reference_skip_docker(container->image.name));
}

Conversion *image_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Conversion *container = resource_new(source, service_name, names, conf, &keys_image);

        image_service_common(container, container->service, IMAGE_PULL_AGAIN);
        if (!container->is_users)
                service_confine_to_store(container->service);
        service_set(container->service, "RemainAfterExit", "yes");
        registry_creds_check(container, "Image");
        if (!container->image.name)
                conversion_problem(container, NULL, "Image= must be given");
        else
                set_policy(container);
        install_apply(container);
        return container;
}
