/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <linux/filter.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/base/printable.h"
#include "libstart/base/string-order.h"
#include "libstart/request/seccomp-request.h"
#include "libstart/seccomp/cache-file.h"
#include "libstart/seccomp/obtain.h"
#include "seccomp-precompile/list.h"
#include "seccomp-precompile/requests.h"

#define SUFFIX ".bpf"
#define SHORT_KEY 12 /* digits that are shown; the start of a key is enough to name it */

static const char *const directories[] = { PATH_SECCOMP, PATH_SECCOMP_LIB };

/* Names of the filters that begin with `prefix`, sorted. A directory that is not there has none. */
static GPtrArray *list_names(const char *dir, const char *prefix) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GDir) handle = g_dir_open(dir, 0, NULL);
        const char *name;

        while (handle && (name = g_dir_read_name(handle)))
                if (name[0] != '.' && g_str_has_suffix(name, SUFFIX) && g_str_has_prefix(name, prefix))
                        g_ptr_array_add(names, g_strdup(name));
        g_ptr_array_sort(names, string_order);
        return names;
}

/* Whose filter it is, and whether it would be used. */
static char *describe_use(const char *root, const char *name, bool image, const GPtrArray *requests) {
        for (guint i = 0; i < requests->len; i++) {
                const SeccompRequest *request = requests->pdata[i];
                SeccompTarget target = seccomp_target_here(request->bounding_caps);
                g_autoptr(GError) error = NULL;
                SeccompCacheKey key;

                seccomp_cache_key_init(&key, request->profile, &target);
                if (!g_str_equal(key.name, name))
                        continue;
                g_autofree char *units = g_strjoinv(" ", (char **) request->units->pdata);
                g_autoptr(SeccompCacheEntry) entry = image ? NULL : seccomp_find(root, &key, &error);
                return image || entry ? g_steal_pointer(&units) :
                                        g_strdup_printf("%s (stale: %s)", units, error->message);
        }
        return g_strdup("-");
}

static char *describe_age(const char *path) {
        struct stat st;

        if (stat(path, &st) < 0)
                return g_strdup("?");
        gint64 age = MAX((gint64) time(NULL) - st.st_mtime, 0);
        if (age < 120)
                return g_strdup_printf("%ds", (int) age);
        if (age < 2 * 60 * 60)
                return g_strdup_printf("%dmin", (int) (age / 60));
        return age < 48 * 60 * 60 ? g_strdup_printf("%dh", (int) (age / 3600)) :
                                    g_strdup_printf("%dd", (int) (age / 86400));
}

static void print_filter(const char *root, const char *directory, const char *name, const GPtrArray *requests) {
        g_autofree char *dir = g_strconcat(root, directory, NULL), *path = g_build_filename(dir, name, NULL);
        g_autofree char *use = describe_use(root, name, g_str_equal(directory, PATH_SECCOMP_LIB), requests);
        g_autofree char *age = describe_age(path);
        g_autoptr(GError) error = NULL;
        g_autoptr(SeccompCacheEntry) entry = seccomp_cache_read(dir, name, &error);

        if (!entry) {
                printable_print("%-*.*s  unusable: %s\n", SHORT_KEY, SHORT_KEY, name, error->message);
                return;
        }
        printable_print("%-*.*s  %016" G_GINT64_MODIFIER "x  %5zu  %6s  %-4s  %s  %s\n", SHORT_KEY, SHORT_KEY, name,
                        entry->header.bounding_caps, g_bytes_get_size(entry->filter) / sizeof(struct sock_filter),
                        age, g_str_equal(directory, PATH_SECCOMP) ? "run" : "lib", entry->path, use);
}

bool list_filters(const char *root, GError **error) {
        g_autoptr(GPtrArray) requests = requests_load(root, error);

        if (!requests)
                return false;
        printable_print("%-*s  %-16s  %5s  %6s  %-4s  %s\n", SHORT_KEY, "KEY", "CAPABILITIES", "INSNS", "AGE", "IN",
                        "PROFILE  UNITS");
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *dir = g_strconcat(root, directories[i], NULL);
                g_autoptr(GPtrArray) names = list_names(dir, "");

                for (guint k = 0; k < names->len; k++)
                        print_filter(root, directories[i], names->pdata[k], requests);
        }
        return true;
}

SeccompCacheEntry *find_filter(const char *root, const char *key, GError **error) {
        if (strchr(key, '/')) {
                g_autofree char *dir = g_path_get_dirname(key), *name = g_path_get_basename(key);

                return seccomp_cache_read(dir, name, error);
        }
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *dir = g_strconcat(root, directories[i], NULL);
                g_autoptr(GPtrArray) names = list_names(dir, key);

                if (names->len > 1)
                        return error_null(error, KT_ERROR_USAGE,
                                          "%u filters in '%s' have a key that begins with '%s'", names->len, dir,
                                          key);
                if (names->len == 1)
                        return seccomp_cache_read(dir, names->pdata[0], error);
        }
        return error_null(error, KT_ERROR_NOT_FOUND,
                          "No filter has a key that begins with '%s'; --list shows what there is", key);
}
