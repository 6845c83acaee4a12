/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "generator/kinds/install.h"
#include "generator/kinds/registry-creds.h"
#include "generator/kinds/resource.h"
#include "generator/parts/image-service.h"
#include "generator/parts/images.h"
#include "generator/unit/keys.h"
#include "libstart/base/error.h"
#include "libstart/store/reference.h"
#include "libstart/value/unit-words.h"

static bool handle_artifact(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autoptr(Reference) reference = NULL;

        container->image.name = g_strdup(value->text);
        if (unit_word_is_unexpanded(value->text))
                return true;
        reference = reference_parse(reference_skip_docker(value->text), error);
        if (!reference)
                return false;
        return (reference->repository && !reference->is_short) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' names no registry: write all of it, as in 'registry.example/model:1'", value->text);
}

static const Key artifact_keys[] = {
        { "Artifact", READ_LAST, handle_artifact, NULL },
        { "AuthFile", READ_LAST, handle_tool_option, "authfile" },
        { "CertDir", READ_LAST, handle_tool_option, "cert-dir" },
        { "ContainersConfModule", READ_LINES, handle_tool_option, "global-arg=--module" },
        { "Creds", READ_LAST, handle_creds, NULL },
        { "DecryptionKey", READ_LAST, handle_tool_option, "decryption-key" },
        { "GlobalArgs", READ_ARGS, handle_tool_option, "global-arg" },
        { "PodmanArgs", READ_ARGS, handle_tool_option, "podman-arg" },
        { "Quiet", READ_BOOLEAN, handle_nothing, NULL }, /* what is pulled is said in a line or two */
        { "Retry", READ_LAST, handle_retry, "retry" },
        { "RetryDelay", READ_LAST, handle_retry_delay, "retry-delay" },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "TLSVerify", READ_BOOLEAN, handle_tool_option, "tls-verify" },
};

static const KeyTable keys_artifact = { "Artifact", artifact_keys, G_N_ELEMENTS(artifact_keys) };

Conversion *artifact_convert(const SourceFile *source, char *service_name, const UnitNames *names,
                             KeyturnConf *conf) {
        Conversion *container = resource_new(source, service_name, names, conf, &keys_artifact);

        image_service_common(container, container->service, IMAGE_PULL_AGAIN);
        if (!container->is_users)
                service_confine_to_store(container->service);
        service_set(container->service, "RemainAfterExit", "yes");
        registry_creds_check(container, "Artifact");
        if (!container->image.name)
                conversion_problem(container, NULL, "Artifact= must be given");
        install_apply(container);
        return container;
}
