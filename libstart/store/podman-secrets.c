/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/config/small-file.h"
#include "libstart/json/visit.h"
#include "libstart/store/podman-secrets.h"
#include "libstart/store/store-conf.h"

/* Podman's files, as containers/common writes them below the graph root: secrets/secrets.json has names, ids and each
 * secret's driver; the driver "file" has the values, in base64, in secretsdata.json of the directory that its options
 * name. */
#define SECRETS "secrets."

typedef struct Search {
        const char *wanted;
        char *named, *prefixed; /* ids */
        bool exact, ambiguous;
        char *id; /* the one of these that counts */
        char *driver, *directory;
        char *value; /* still in base64 */
} Search;

static void search_clear(Search *search) {
        g_free(search->named);
        g_free(search->prefixed);
        g_free(search->id);
        g_free(search->driver);
        g_free(search->directory);
        if (search->value)
                secret_value_free(search->value, strlen(search->value));
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Search, search_clear)

void secret_value_free(char *value, gsize length) {
        if (value)
                explicit_bzero(value, length);
        g_free(value);
}

static void replace(char **string, const char *value, size_t length) {
        g_free(*string);
        *string = g_strndup(value, length);
}

/* The id in "secrets.ID.NAME", where NAME is that; else NULL. Transfer full. */
static char *find_id(const char *path, const char *name) {
        const char *id = g_str_has_prefix(path, SECRETS) ? path + strlen(SECRETS) : NULL;
        const char *dot = id ? strchr(id, '.') : NULL;

        return dot && g_str_equal(dot + 1, name) ? g_strndup(id, (gsize) (dot - id)) : NULL;
}

/* Podman's order: the name, then a whole id, then the beginning of one. */
static bool on_name(const char *path, const char *value, size_t length, void *data, GError **error) {
        Search *search = data;
        g_autofree char *id = find_id(path, "name");

        if (!id)
                return true;
        if (strlen(search->wanted) == length && strncmp(search->wanted, value, length) == 0)
                replace(&search->named, id, strlen(id));
        if (g_str_has_prefix(id, search->wanted) && !search->exact) {
                search->exact = g_str_equal(id, search->wanted);
                search->ambiguous = search->prefixed && !search->exact;
                replace(&search->prefixed, id, strlen(id));
        }
        return true;
}

static bool on_driver(const char *path, const char *value, size_t length, void *data, GError **error) {
        Search *search = data;
        g_autofree char *driver = find_id(path, "driver"), *directory = find_id(path, "driverOptions.path");

        if (g_strcmp0(driver, search->id) == 0)
                replace(&search->driver, value, length);
        else if (g_strcmp0(directory, search->id) == 0)
                replace(&search->directory, value, length);
        return true;
}

static bool on_value(const char *path, const char *value, size_t length, void *data, GError **error) {
        Search *search = data;

        if (g_str_equal(path, search->id) && !search->value)
                search->value = g_strndup(value, length);
        return true;
}

typedef bool (*OnString)(const char *path, const char *value, size_t length, void *data, GError **error);

/* Nothing of the text may be in the error: there may be values in it. */
static bool visit(const char *path, OnString on_string, Search *search, GError **error) {
        static const char *const names[] = { "driver", "driverOptions", "name", "secrets", NULL };
        const JsonVisitor visitor = { .string = on_string, .names = names };
        char *text = NULL;
        size_t length = 0;
        bool ok = file_read(path, &text, &length, error);

        if (ok && length > 0 && !json_visit(text, length, &visitor, search, NULL))
                ok = error_set(error, KT_ERROR_FAILED,
                               "'%s' is damaged, which Podman does not mend: move its directory 'secrets' away, and "
                               "make the secrets anew (podman secret create)",
                               path);
        secret_value_free(text, length);
        return ok;
}

static bool choose_id(Search *search, GError **error) {
        if (search->ambiguous && !search->named)
                return error_set(error, KT_ERROR_USAGE, "the ids of several of Podman's secrets begin with '%s'",
                                 search->wanted);
        search->id = g_strdup(search->named ?: search->prefixed);
        return true;
}

static bool check_driver(const Search *search, GError **error) {
        return g_strcmp0(search->driver, "file") == 0 ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "Podman keeps this secret with its driver '%s', which keyturn cannot read: make it with the "
                         "driver file, or as a credential",
                         search->driver ?: "");
}

static bool read_value(const char *root, const char *store, Search *search, GError **error) {
        g_autofree char *path = search->directory ?
                                        g_build_filename(root, search->directory, "secretsdata.json", NULL) :
                                        g_build_filename(store, "filedriver", "secretsdata.json", NULL);

        return visit(path, on_value, search, error) &&
               (search->value ||
                error_set(error, KT_ERROR_FAILED, "'%s' does not have the value of the secret", path));
}

/* Podman writes its files anew, one after the other, and takes this lock for it. No lock is kept here, and nobody is
 * waited for but a writer, for two seconds at most. */
static void wait_for_writer(const char *store) {
        g_autofree char *path = g_build_filename(store, "secrets.lock", NULL);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

        for (int tries = 0; fd >= 0 && tries < 200 && fcntl(fd, F_OFD_SETLK, &lock) < 0; tries++)
                g_usleep(10 * G_TIME_SPAN_MILLISECOND);
}

/* Where it stands, and terminated: the result is shorter. Returns its length. */
static gsize decode(char *base64) {
        gsize encoded = strlen(base64), length = 0;

        if (encoded > 0)
                g_base64_decode_inplace(base64, &length);
        explicit_bzero(base64 + length, encoded - length);
        return length;
}

bool podman_secret_find(const char *root, const char *name, char **ret_value, gsize *ret_length, char **ret_store,
                        GError **error) {
        g_autoptr(StoreConf) conf = store_conf_load(root, NULL, error);
        g_auto(Search) search = { .wanted = name };

        *ret_value = NULL;
        if (!conf)
                return false;
        /* The graph root is the last store that Podman writes to. */
        g_autofree char *store = g_build_filename(conf->stores[conf->n_writable - 1], "secrets", NULL);
        g_autofree char *names = g_build_filename(store, "secrets.json", NULL);

        wait_for_writer(store);
        if (!visit(names, on_name, &search, error) || !choose_id(&search, error))
                return false;
        if (search.id) {
                if (!visit(names, on_driver, &search, error) || !check_driver(&search, error) ||
                    !read_value(root, store, &search, error))
                        return false;
                *ret_value = g_steal_pointer(&search.value);
                *ret_length = decode(*ret_value);
        }
        *ret_store = g_steal_pointer(&store);
        return true;
}
