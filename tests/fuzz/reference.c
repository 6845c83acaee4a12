/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/store/manifest.h"
#include "libstart/store/reference.h"
#include "tests/fuzz/fuzz.h"

static void check_name(const Reference *reference, const char *repository) {
        g_autofree char *name = reference_name(reference, repository);
        g_autoptr(GError) error = NULL;
        g_autoptr(Reference) again = reference_parse(name, &error);

        require(again, "%s", error->message);
        require(g_strcmp0(again->repository, repository) == 0 && g_strcmp0(again->tag, reference->tag) == 0 &&
                        g_strcmp0(again->digest, reference->digest) == 0 && !again->is_short,
                "'%s' is read as '%s', '%s', '%s'", name, again->repository, again->tag, again->digest);
}

/* Each name that is looked for means itself. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        static char *const registries[] = { (char *) "registry.example:5000", (char *) "docker.io", NULL };
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;
        g_autoptr(Reference) reference = reference_parse(text, &error);

        require_error(reference, error, text);
        if (!reference)
                return 0;
        require(reference->id || reference->repository, "it means nothing");
        require(!reference->id || strspn(reference->id, "0123456789abcdef") == strlen(reference->id),
                "the id '%s' is no number", reference->id);
        if (!reference->repository)
                return 0;
        require(!reference->tag != !reference->digest, "a tag and a digest, or neither");
        require(!reference->digest || digest_is_valid(reference->digest), "'%s' is no digest", reference->digest);
        g_auto(GStrv) repositories = reference_repositories(reference, NULL, registries);
        for (char **repository = repositories; *repository; repository++)
                if (strlen(*repository) <= 255)
                        check_name(reference, *repository);
        return 0;
}
