/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/image/tool-words.h"
#include "libstart/store/reference.h"

/* The first is localhost's and the last one docker.io's, which are for images that are there. */
static char *find_only(const Reference *reference, char **repositories, bool has_alias, GError **error) {
        guint n = g_strv_length(repositories);

        if (has_alias || n == 1)
                return reference_name(reference, repositories[0]);
        if (n == 3)
                return reference_name(reference, repositories[1]);
        return error_null(error, KT_ERROR_USAGE,
                          "'%s' names no registry, and registries.conf has %s; write the whole name, as in "
                          "'registry.example/%s'",
                          reference->repository,
                          n < 3 ? "neither an alias nor unqualified-search-registries" :
                                  "several unqualified-search-registries",
                          reference->repository);
}

char *pull_find_name(const char *reference, const ShortNames *names, GError **error) {
        g_autoptr(Reference) parsed = reference_parse(reference_skip_docker(reference), error);
        g_auto(GStrv) repositories = NULL;
        const char *alias;

        if (!parsed)
                return NULL;
        if (!parsed->repository)
                return error_null(error, KT_ERROR_USAGE,
                                  "'%s' is an id, which no registry knows; write the image's name", reference);
        alias = parsed->is_short ? g_hash_table_lookup(names->aliases, parsed->repository) : NULL;
        repositories = reference_repositories(parsed, alias, names->registries);
        return find_only(parsed, repositories, alias, error);
}

bool pull_needs_podman(const PullRequest *request) {
        return request->all_tags || request->podman_args || request->global_args ||
               (reference_is_archive(request->reference) && !request->tag);
}

/* `prefix` is "--" and what the program has between that and the option's name. */
static void add(GPtrArray *words, const char *prefix, const char *option, const char *value) {
        if (value)
                g_ptr_array_add(words, g_strconcat(prefix, option, value, NULL));
}

static void add_all(GPtrArray *words, char *const *values) {
        for (; values && *values; values++)
                g_ptr_array_add(words, g_strdup(*values));
}

static void add_platform(GPtrArray *words, const char *prefix, const PullRequest *request) {
        add(words, prefix, "arch=", request->arch);
        add(words, prefix, "os=", request->os);
        add(words, prefix, "variant=", request->variant);
}

static void add_registry(GPtrArray *words, const char *prefix, const PullRequest *request) {
        add(words, prefix, "authfile=", request->authfile);
        add(words, prefix, "cert-dir=", request->cert_dir);
        add(words, prefix, "tls-verify=", request->tls_verify);
}

GPtrArray *tool_words(const char *first, ...) {
        GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
        va_list ap;

        va_start(ap, first);
        for (const char *word = first; word; word = va_arg(ap, const char *))
                g_ptr_array_add(words, g_strdup(word));
        va_end(ap);
        return words;
}

static GPtrArray *skopeo_words(const PullRequest *request, const char *command) {
        GPtrArray *words = tool_words("skopeo", NULL);

        add_platform(words, "--override-", request);
        add(words, "", command, "");
        return words;
}

GPtrArray *pull_words_skopeo(const PullRequest *request, const char *name) {
        GPtrArray *words = skopeo_words(request, "copy");

        add_registry(words, "--src-", request);
        add(words, "--", "decryption-key=", request->decryption_key);
        add(words, "", reference_is_archive(request->reference) ? "" : REFERENCE_DOCKER, name);
        if (request->artifacts)
                g_ptr_array_add(words, g_strdup_printf("oci:%s:%s", request->artifacts, name));
        else
                add(words, "", LOCAL_STORE, request->tag ?: name);
        return words;
}

GPtrArray *pull_words_podman(const PullRequest *request, const char *name) {
        GPtrArray *words = tool_words("podman", NULL);

        add_all(words, request->global_args);
        if (request->artifacts)
                add(words, "", "artifact", "");
        add(words, "", "pull", "");
        add_platform(words, "--", request);
        add_registry(words, "--", request);
        add(words, "--", "decryption-key=", request->decryption_key);
        if (request->all_tags)
                add(words, "--", "all-tags", "");
        add_all(words, request->podman_args);
        add(words, "--", "", "");
        add(words, "", name, "");
        return words;
}

GPtrArray *inspect_words(const PullRequest *request, const char *name) {
        GPtrArray *words = skopeo_words(request, "inspect");

        add(words, "--", "raw", "");
        add_registry(words, "--", request);
        add(words, "", REFERENCE_DOCKER, name);
        return words;
}

GPtrArray *build_words(const char *program, char *const *global_args, bool cache, char *const *args) {
        GPtrArray *words = tool_words(program, NULL);

        add_all(words, global_args);
        add(words, "", "build", "");
        if (!cache)
                add(words, "--", "no-cache", "");
        add_all(words, args);
        return words;
}
