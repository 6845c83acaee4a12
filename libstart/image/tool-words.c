/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/image/tool-words.h"
#include "libstart/store/reference.h"

#define REGISTRY "docker://"

/* Those that need no daemon. */
static const char *const archives[] = { "docker-archive:", "oci-archive:", "oci:", "dir:" };

bool pull_is_archive(const PullRequest *request) {
        for (size_t i = 0; i < G_N_ELEMENTS(archives); i++)
                if (g_str_has_prefix(request->reference, archives[i]))
                        return true;
        return false;
}

/* The first is localhost's and the last one docker.io's, which are for images that are there. */
static char *find_only(const Reference *reference, char **repositories, bool has_alias, GError **error) {
        guint n = g_strv_length(repositories);

        if (has_alias || n == 1)
                return reference_name(reference, repositories[0]);
        if (n == 3)
                return reference_name(reference, repositories[1]);
        error_set(error, KT_ERROR_USAGE,
                  "'%s' names no registry, and registries.conf has %s; write the whole name, as in "
                  "'registry.example/%s'",
                  reference->repository,
                  n < 3 ? "neither an alias nor unqualified-search-registries" :
                          "several unqualified-search-registries",
                  reference->repository);
        return NULL;
}

char *pull_find_name(const char *reference, const ShortNames *names, GError **error) {
        const char *text = g_str_has_prefix(reference, REGISTRY) ? reference + strlen(REGISTRY) : reference;
        g_autoptr(Reference) parsed = reference_parse(text, error);
        g_auto(GStrv) repositories = NULL;
        const char *alias;

        if (!parsed)
                return NULL;
        if (!parsed->repository) {
                error_set(error, KT_ERROR_USAGE, "'%s' is an id, which no registry knows; write the image's name",
                          reference);
                return NULL;
        }
        alias = parsed->is_short ? g_hash_table_lookup(names->aliases, parsed->repository) : NULL;
        repositories = reference_repositories(parsed, alias, names->registries);
        return find_only(parsed, repositories, alias, error);
}

bool pull_needs_podman(const PullRequest *request) {
        return request->all_tags || request->podman_args || request->global_args ||
               (pull_is_archive(request) && !request->tag);
}

static void add(GPtrArray *words, const char *option, const char *value) {
        if (value)
                g_ptr_array_add(words, g_strconcat(option, value, NULL));
}

static void add_all(GPtrArray *words, char *const *values) {
        for (; values && *values; values++)
                g_ptr_array_add(words, g_strdup(*values));
}

static GPtrArray *skopeo_words(const PullRequest *request, const char *command) {
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

        add(words, "skopeo", "");
        add(words, "--override-arch=", request->arch);
        add(words, "--override-os=", request->os);
        add(words, "--override-variant=", request->variant);
        add(words, command, "");
        return words;
}

GPtrArray *pull_words_skopeo(const PullRequest *request, const char *name) {
        GPtrArray *words = skopeo_words(request, "copy");

        add(words, "--src-authfile=", request->authfile);
        add(words, "--src-cert-dir=", request->cert_dir);
        add(words, "--src-tls-verify=", request->tls_verify);
        add(words, "--decryption-key=", request->decryption_key);
        add(words, pull_is_archive(request) ? "" : REGISTRY, name);
        add(words, "containers-storage:", request->tag ?: name);
        return words;
}

GPtrArray *pull_words_podman(const PullRequest *request, const char *name) {
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);

        add(words, "podman", "");
        add_all(words, request->global_args);
        add(words, "pull", "");
        add(words, "--arch=", request->arch);
        add(words, "--os=", request->os);
        add(words, "--variant=", request->variant);
        add(words, "--authfile=", request->authfile);
        add(words, "--cert-dir=", request->cert_dir);
        add(words, "--tls-verify=", request->tls_verify);
        add(words, "--decryption-key=", request->decryption_key);
        if (request->all_tags)
                add(words, "--all-tags", "");
        add_all(words, request->podman_args);
        add(words, "--", "");
        add(words, name, "");
        return words;
}

GPtrArray *inspect_words(const PullRequest *request, const char *name) {
        GPtrArray *words = skopeo_words(request, "inspect");

        add(words, "--raw", "");
        add(words, "--authfile=", request->authfile);
        add(words, "--cert-dir=", request->cert_dir);
        add(words, "--tls-verify=", request->tls_verify);
        add(words, REGISTRY, name);
        return words;
}
