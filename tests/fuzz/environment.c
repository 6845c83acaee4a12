/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/oci/environment.h"
#include "tests/fuzz/fuzz.h"

static size_t name_length(const char *entry) {
        return strcspn(entry, "=");
}

static bool same_name(const char *a, const char *b) {
        return name_length(a) == name_length(b) && strncmp(a, b, name_length(a)) == 0;
}

static void check_entries(char *const *environment) {
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);

        for (char *const *entry = environment; *entry; entry++) {
                require(strchr(*entry, '=') && **entry != '=', "the variable '%s'", *entry);
                g_ptr_array_add(names, g_strndup(*entry, name_length(*entry)));
        }
        g_ptr_array_add(names, NULL);
        require_unique((char *const *) names->pdata);
}

/* The last assignment of each name counts. */
static void check_assigned(char *const *assigned, char *const *environment) {
        for (char *const *entry = assigned; *entry; entry++) {
                const char *last = *entry + strspn(*entry, " \t");

                if (!strchr(last, '='))
                        return; /* a name alone can bring back any variable of the caller's */
                for (char *const *later = entry + 1; *later; later++) {
                        const char *other = *later + strspn(*later, " \t");

                        if (!strchr(other, '='))
                                return;
                        if (same_name(last, other))
                                last = other;
                }
                require(g_strv_contains((const char *const *) environment, last) || g_str_equal(last, "HOME="),
                        "'%s' is missing", last);
        }
}

static char **lines_of(const char *text) {
        g_autofree char *copy = g_strdup(text);

        return *copy ? g_strsplit(g_strchomp(copy), "\n", -1) : g_new0(char *, 1);
}

/* The image's, the caller's, a file and --env, a variable a line. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
        g_auto(GStrv) parts = fuzz_parts(data, size, 4), image_env = lines_of(parts[0]), caller = lines_of(parts[1]);
        g_auto(GStrv) given = lines_of(parts[3]);
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free), env = g_ptr_array_new();
        ImageConfig image = { .env = image_env };
        const UserIdentity user = { .home = (char *) "/root", .in_passwd = true };
        const HostFacts host = { .hostname = "box", .environment = (const char *const *) caller };
        char *const files[] = { parts[2], NULL };
        const char *paths[] = { "/etc/file.env" };
        const GPtrArray env_files = { .pdata = (void **) paths, .len = 1 };
        const ContainerRequest request = { .http_proxy = true, .env = env, .env_files = &env_files };
        const SpecInput input = {
                .request = &request,
                .image = &image,
                .user = &user,
                .host = &host,
                .hostname = "box",
                .env_files = files,
        };
        g_autofree char *text = fuzz_text(data, size);
        g_autoptr(GError) error = NULL;

        for (char **entry = given; *entry; entry++)
                g_ptr_array_add(env, *entry);
        g_autofree char **environment = environment_build(&input, owned, &error);
        require_error(environment, error, text);
        if (environment) {
                check_entries(environment);
                check_assigned(given, environment);
        }
        return 0;
}
