/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/string-prefix.h"
#include "libstart/store/manifest.h"
#include "libstart/store/reference.h"

#define REPOSITORY_LENGTH_MAX 255
#define TAG_LENGTH_MAX 128

#define HEX_DIGITS "0123456789abcdef"

/* Podman's transports, which name images outside of the stores. */
static const char *const archives[] = { "dir:", "docker-archive:", "oci-archive:", "oci:", NULL };
static const char *const others[] = {
        "containers-storage:", "docker-daemon:", REFERENCE_DOCKER, "ostree:", "sif:", "tarball:", NULL,
};

bool reference_is_archive(const char *text) {
        return string_prefix(text, archives);
}

const char *reference_skip_docker(const char *text) {
        return g_str_has_prefix(text, REFERENCE_DOCKER) ? text + strlen(REFERENCE_DOCKER) : text;
}

void reference_free(Reference *reference) {
        g_free(reference->id);
        g_free(reference->repository);
        g_free(reference->tag);
        g_free(reference->digest);
        g_free(reference);
}

/* Letters and digits, separated by one '.', one or two '_' or any number of '-'. */
static bool component_is_valid(const char *p, const char *end) {
        for (;;) {
                const char *start = p;

                while (p < end && (g_ascii_islower(*p) || g_ascii_isdigit(*p)))
                        p++;
                if (p == start)
                        return false;
                if (p == end)
                        return true;
                if (*p == '-')
                        while (p < end && *p == '-')
                                p++;
                else if (*p == '_')
                        p += p + 1 < end && p[1] == '_' ? 2 : 1;
                else if (*p == '.')
                        p++;
                else
                        return false;
        }
}

/* A host name or address with an optional port; an IPv6 address in brackets. */
static bool registry_is_valid(const char *registry, size_t length) {
        const char *end = registry + length;
        const char *p = registry;

        if (*p == '[') {
                p += 1 + strspn(p + 1, "0123456789abcdefABCDEF:.");
                if (p == end || *p++ != ']')
                        return false;
        } else
                while (p < end && (g_ascii_isalnum(*p) || *p == '.' || *p == '-'))
                        p++;
        if (p == registry)
                return false;
        if (p < end && *p == ':')
                for (p++; p < end && g_ascii_isdigit(*p);)
                        p++;
        return p == end && end[-1] != ':';
}

/* Does the first component name a registry, rather than a part of a short name? */
static bool has_registry(const char *repository) {
        const char *slash = strchr(repository, '/');
        size_t length = slash ? (size_t) (slash - repository) : 0;

        return slash && (memchr(repository, '.', length) || memchr(repository, ':', length) ||
                         g_str_has_prefix(repository, "localhost/"));
}

static bool repository_is_valid(const char *repository) {
        const char *p = repository;

        if (has_registry(repository)) {
                size_t length = (size_t) (strchr(repository, '/') - repository);

                if (!registry_is_valid(repository, length))
                        return false;
                p += length + 1;
        }
        for (;;) {
                const char *end = strchrnul(p, '/');

                if (!component_is_valid(p, end))
                        return false;
                if (*end == '\0')
                        return true;
                p = end + 1;
        }
}

static bool tag_is_valid(const char *tag) {
        size_t length = strlen(tag);

        return length > 0 && length <= TAG_LENGTH_MAX && tag[0] != '.' && tag[0] != '-' &&
               strspn(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == length;
}

/* docker.io has two names, and its repositories without a slash are those of "library". */
static char *normalize(const char *repository) {
        static const char *const prefixes[] = { "docker.io/", "index.docker.io/", NULL };
        const char *prefix = string_prefix(repository, prefixes), *path;

        if (!prefix)
                return g_strdup(repository);
        path = repository + strlen(prefix);
        return g_strconcat("docker.io/", strchr(path, '/') ? "" : "library/", path, NULL);
}

static bool check_transport(const char *text, GError **error) {
        return (!string_prefix(text, archives) && !string_prefix(text, others)) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' is not in the image store: put the image there first ('podman pull %s') and give its "
                         "name",
                         text, text);
}

/* NAME[:TAG][@DIGEST] into reference, of which the tag is left out where there is a digest. */
static bool parse_name(Reference *reference, const char *text, GError **error) {
        g_autofree char *name = g_strdup(text);
        char *at = strchr(name, '@');

        if (at) {
                *at = '\0';
                if (!digest_is_valid(at + 1))
                        return error_set(error, KT_ERROR_USAGE,
                                         "'%s' is no image reference: after '@' there must be 'sha256:' and 64 "
                                         "lower-case hexadecimal digits",
                                         text);
                reference->digest = g_strdup(at + 1);
        }

        char *colon = strrchr(name, ':');
        if (colon && !strchr(colon, '/')) {
                *colon = '\0';
                if (!tag_is_valid(colon + 1))
                        return error_set(error, KT_ERROR_USAGE, "'%s' is no image reference: bad tag '%s'", text,
                                         colon + 1);
                if (!at)
                        reference->tag = g_strdup(colon + 1);
        }
        if (!repository_is_valid(name))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no image reference: a name has lower-case letters and digits, with '.', "
                                 "'_' or '-' inside, as in 'registry.example/name:tag'",
                                 text);

        reference->is_short = !has_registry(name);
        reference->repository = normalize(name);
        if (strlen(reference->repository) > REPOSITORY_LENGTH_MAX)
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no image reference: the name is longer than %d characters", text,
                                 REPOSITORY_LENGTH_MAX);
        if (!at && !reference->tag)
                reference->tag = g_strdup("latest");
        return true;
}

Reference *reference_parse(const char *text, GError **error) {
        g_autoptr(Reference) reference = g_new0(Reference, 1);
        size_t length = strlen(text);

        if (digest_is_valid(text) || id_is_valid(text)) {
                reference->id = g_strdup(text + length - 64);
                return g_steal_pointer(&reference);
        }
        if (!check_transport(text, error) || !parse_name(reference, text, error))
                return NULL;
        if (length >= REFERENCE_ID_MIN && length < 64 && strspn(text, HEX_DIGITS) == length)
                reference->id = g_strdup(text);
        return g_steal_pointer(&reference);
}

static void add_repository(GStrvBuilder *builder, const char *registry, const char *repository) {
        g_autofree char *name = g_strconcat(registry, "/", repository, NULL), *normalized = normalize(name);

        g_strv_builder_add(builder, normalized);
}

char **reference_repositories(const Reference *reference, const char *alias, char *const *registries) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

        if (!reference->is_short) {
                g_strv_builder_add(builder, reference->repository);
                return g_strv_builder_end(builder);
        }

        if (alias)
                g_strv_builder_add(builder, alias);
        add_repository(builder, "localhost", reference->repository);
        for (; registries && *registries; registries++)
                add_repository(builder, *registries, reference->repository);
        add_repository(builder, "docker.io", reference->repository);
        return g_strv_builder_end(builder);
}

char *reference_name(const Reference *reference, const char *repository) {
        if (reference->digest)
                return g_strconcat(repository, "@", reference->digest, NULL);
        return g_strconcat(repository, ":", reference->tag, NULL);
}
