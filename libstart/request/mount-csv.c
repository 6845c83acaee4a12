/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/mount-request.h"

/* One field of a CSV record (RFC 4180, as podman reads it): quoted, with "" for a quote, or plain. Moves *p behind
 * the field. Transfer full. */
static char *take_field(const char **p, GError **error) {
        g_autoptr(GString) field = g_string_new(NULL);
        const char *c = *p;
        bool closed = false;

        if (*c != '"') {
                size_t length = strcspn(c, ",\"");

                if (c[length] == '"') {
                        return error_null(error, KT_ERROR_USAGE,
                                          "a quote stands in the middle of a field: quote all of it");
                }
                *p = c + length;
                return g_strndup(c, length);
        }
        for (c++; *c; c++) {
                closed = *c == '"' && *++c != '"';
                if (closed)
                        break;
                g_string_append_c(field, *c);
        }
        if (!closed || (*c && *c != ','))
                return error_null(error, KT_ERROR_USAGE, "a quoted field does not end in a quote");
        *p = c;
        return g_string_free(g_steal_pointer(&field), FALSE);
}

static GPtrArray *split_fields(const char *value, GError **error) {
        g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);

        for (const char *p = value;; p++) {
                char *field = take_field(&p, error);

                if (!field)
                        return NULL;
                g_ptr_array_add(fields, field);
                if (!*p)
                        return g_steal_pointer(&fields);
        }
}

/* What cannot be read as a field ends at the next comma: expanding a variable may yet close a quote. Sets *ret_start
 * and *ret_end around the field. */
static char *find_source_field(const char *mount, const char **ret_start, const char **ret_end) {
        for (const char *p = mount;; p++) {
                const char *start = p;
                g_autofree char *field = take_field(&p, NULL);

                if (!field) {
                        start += *start == '"';
                        p = start + strcspn(start, ",");
                        field = g_strndup(start, (gsize) (p - start));
                }
                if (g_str_has_prefix(field, "source=") || g_str_has_prefix(field, "src=")) {
                        *ret_start = start;
                        *ret_end = p;
                        return g_steal_pointer(&field);
                }
                if (!*p)
                        return NULL;
        }
}

char *mount_request_find_source(const char *mount) {
        const char *start, *end;
        g_autofree char *field = find_source_field(mount, &start, &end);

        return field ? g_strdup(strchr(field, '=') + 1) : NULL;
}

char *mount_request_replace_source(const char *mount, const char *path) {
        const char *start, *end;
        g_autofree char *field = find_source_field(mount, &start, &end);
        g_autoptr(GString) quoted = g_string_new(NULL);

        g_return_val_if_fail(field, NULL);
        g_string_append_len(quoted, field, strchr(field, '=') + 1 - field);
        g_string_append(quoted, path);
        if (*start == '"' || strpbrk(path, ",\"")) {
                g_string_replace(quoted, "\"", "\"\"", 0);
                g_string_prepend_c(quoted, '"');
                g_string_append_c(quoted, '"');
        }
        return g_strdup_printf("%.*s%s%s", (int) (start - mount), mount, quoted->str, end);
}

/* Takes the type=… field out. podman's default is a named volume. */
static bool take_type(GPtrArray *fields, MountType *ret, GError **error) {
        static const struct {
                const char *name;
                MountType type;
        } types[] = {
                { "artifact", MOUNT_ARTIFACT }, { "bind", MOUNT_BIND },     { "devpts", MOUNT_DEVPTS },
                { "glob", MOUNT_GLOB },         { "image", MOUNT_IMAGE },   { "ramfs", MOUNT_RAMFS },
                { "tmpfs", MOUNT_TMPFS },       { "volume", MOUNT_VOLUME },
        };
        const char *type = "volume";
        guint at = fields->len;

        for (guint i = 0; i < fields->len; i++)
                if (g_str_has_prefix(fields->pdata[i], "type=")) {
                        if (at < fields->len)
                                return error_set(error, KT_ERROR_USAGE, "'type=' is given twice");
                        at = i;
                        type = (const char *) fields->pdata[i] + strlen("type=");
                }

        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if (g_str_equal(types[i].name, type)) {
                        *ret = types[i].type;
                        if (at < fields->len)
                                g_ptr_array_remove_index(fields, at);
                        return true;
                }
        return error_set(
                error, KT_ERROR_UNSUPPORTED,
                "type '%s' is not supported: there are bind, volume, tmpfs, image, artifact, glob, ramfs and "
                "devpts",
                type);
}

/* As podman reads it. Nothing else may be taken for true: files of the host would get another owner. */
static bool read_bool(const char *key, const char *value, bool *ret, GError **error) {
        static const char *const words[] = { "0", "f", "false", "1", "t", "true" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
                if (!value || g_ascii_strcasecmp(value, words[i]) == 0) {
                        *ret = !value || i >= G_N_ELEMENTS(words) / 2;
                        return true;
                }
        return error_set(error, KT_ERROR_USAGE, "'%s=%s' is neither true nor false", key, value);
}

static bool set_access(MountRequest *request, const char *key, const char *value, GError **error) {
        bool is_set;

        return read_bool(key, value, &is_set, error) &&
               mount_request_add_option(request, g_str_equal(key, "rw") == is_set ? "rw" : "ro", error);
}

/* podman's second name of an image's rw */
static bool set_readwrite(MountRequest *request, const char *key, const char *value, GError **error) {
        if (request->type != MOUNT_IMAGE)
                return error_set(error, KT_ERROR_USAGE, "'%s' is for type=image: write rw or ro", key);
        return set_access(request, "rw", value, error);
}

static bool set_source(MountRequest *request, const char *key, const char *value, GError **error) {
        if (request->type == MOUNT_TMPFS || request->type == MOUNT_RAMFS || request->type == MOUNT_DEVPTS)
                return error_set(error, KT_ERROR_USAGE, "a file system in memory has no '%s'", key);
        if (request->source)
                return error_set(error, KT_ERROR_USAGE, "the source is given twice");
        return mount_request_set_source(request, value, error);
}

static bool set_destination(MountRequest *request, const char *key, const char *value, GError **error) {
        if (request->destination)
                return error_set(error, KT_ERROR_USAGE, "the destination is given twice");
        return mount_request_set_destination(request, value, error);
}

static bool set_propagation(MountRequest *request, const char *key, const char *value, GError **error) {
        static const char *const known[] = { "shared", "rshared",    "private",     "rprivate", "slave",
                                             "rslave", "unbindable", "runbindable", NULL };

        if (request->type == MOUNT_TMPFS)
                return error_set(error, KT_ERROR_USAGE, "'%s' is not for a tmpfs", key);
        if (!g_strv_contains(known, value))
                return error_set(error, KT_ERROR_USAGE, "'%s=%s' is no mount propagation", key, value);
        return mount_request_add_option(request, value, error);
}

static bool set_nonrecursive(MountRequest *request, const char *key, const char *value, GError **error) {
        if (value && !g_str_equal(value, "true"))
                return error_set(error, KT_ERROR_USAGE, "'%s' can only be true", key);
        return mount_request_add_option(request, "bind", error);
}

static bool set_tmpfs(MountRequest *request, const char *key, const char *value, GError **error) {
        g_autofree char *option = g_strdup_printf("%s=%s", key + strlen("tmpfs-"), value);

        return mount_request_add_option(request, option, error);
}

static bool set_relabel(MountRequest *request, const char *key, const char *value, GError **error) {
        if (!g_str_equal(value, "shared") && !g_str_equal(value, "private"))
                return error_set(error, KT_ERROR_USAGE, "'%s=%s' is neither shared nor private", key, value);
        return mount_request_add_option(request, g_str_equal(value, "shared") ? "z" : "Z", error);
}

static bool set_chown(MountRequest *request, const char *key, const char *value, GError **error) {
        bool is_set;

        return read_bool(key, value, &is_set, error) && (!is_set || mount_request_add_option(request, "U", error));
}

/* Docker's name of it */
static bool set_subpath(MountRequest *request, const char *key, const char *value, GError **error) {
        g_autofree char *option = g_strconcat("subpath=", value, NULL);

        if (request->type != MOUNT_VOLUME)
                return error_set(error, KT_ERROR_USAGE, "'%s' is for type=volume", key);
        return mount_request_add_option(request, option, error);
}

/* Docker on macOS; podman accepts and drops it too */
static bool set_consistency(MountRequest *request, const char *key, const char *value, GError **error) {
        return true;
}

/* Which file of an artifact, and what it is called below a directory. */
static bool set_file(MountRequest *request, const char *key, const char *value, GError **error) {
        char **field = g_str_equal(key, "title")  ? &request->title :
                       g_str_equal(key, "digest") ? &request->digest :
                                                    &request->file_name;

        if (request->type != MOUNT_ARTIFACT)
                return error_set(error, KT_ERROR_USAGE, "'%s' is for type=artifact", key);
        if (*field)
                return error_set(error, KT_ERROR_USAGE, "'%s' is given twice", key);
        *field = g_strdup(value);
        if (request->title && request->digest)
                return error_set(error, KT_ERROR_USAGE, "'title' and 'digest' exclude each other");
        return path_value_is_name(value) || error_set(error, KT_ERROR_USAGE, "'%s=%s' names no file", key, value);
}

typedef struct MountKey {
        const char *name;
        bool (*set)(MountRequest *request, const char *key, const char *value, GError **error);
        bool needs_value;
} MountKey;

static const MountKey keys[] = {
        { "source", set_source, true },
        { "src", set_source, true },
        { "destination", set_destination, true },
        { "dst", set_destination, true },
        { "target", set_destination, true },
        { "readonly", set_access },
        { "ro", set_access },
        { "rw", set_access },
        { "readwrite", set_readwrite, true },
        { "bind-propagation", set_propagation, true },
        { "bind-nonrecursive", set_nonrecursive },
        { "tmpfs-size", set_tmpfs, true },
        { "tmpfs-mode", set_tmpfs, true },
        { "relabel", set_relabel, true },
        { "volume-subpath", set_subpath, true },
        { "U", set_chown },
        { "chown", set_chown },
        { "consistency", set_consistency },
        { "title", set_file, true },
        { "digest", set_file, true },
        { "name", set_file, true },
};

static bool set_field(MountRequest *request, const char *field, GError **error) {
        const char *equals = strchr(field, '=');
        g_autofree char *name = equals ? g_strndup(field, (gsize) (equals - field)) : g_strdup(field);

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                if (!g_str_equal(keys[i].name, name))
                        continue;
                if (keys[i].needs_value && !equals)
                        return error_set(error, KT_ERROR_USAGE, "'%s' needs a value", name);
                return keys[i].set(request, name, equals ? equals + 1 : NULL, error);
        }
        if (request->type == MOUNT_TMPFS && (g_str_equal(name, "size") || g_str_equal(name, "mode")))
                return error_set(error, KT_ERROR_USAGE, "write 'tmpfs-%s=' instead of '%s='", name, name);
        return mount_request_add_option(request, field, error);
}

/* As podman has it, each match of a pattern is then where it is on the host. What has wildcards in directories' names
 * would need a destination for each. */
static bool add_destination(MountRequest *request, GError **error) {
        g_autofree char *directory = request->source ? g_path_get_dirname(request->source) : NULL;

        if (request->type != MOUNT_GLOB || !directory)
                return error_set(error, KT_ERROR_USAGE, "'destination=' is missing");
        if (g_str_equal(directory, "/"))
                return error_set(error, KT_ERROR_USAGE, "what a pattern matches in '/' needs a 'destination='");
        if (directory[strcspn(directory, "*?[\\")])
                return error_set(error, KT_ERROR_USAGE,
                                 "'destination=' is missing: without it the pattern may be in the last name only");
        return mount_request_set_destination(request, directory, error);
}

static MountRequest *parse_fields(const char *value, GError **error) {
        g_autoptr(GPtrArray) fields = split_fields(value, error);
        MountType type = MOUNT_BIND;

        if (!fields || !take_type(fields, &type, error))
                return NULL;

        g_autoptr(MountRequest) request = mount_request_new(type);
        for (guint i = 0; i < fields->len; i++)
                if (!set_field(request, fields->pdata[i], error))
                        return NULL;
        if (!request->destination && !add_destination(request, error))
                return NULL;
        if (type == MOUNT_BIND && !request->source)
                request->source = g_strdup(request->destination); /* as podman has it */
        if (!request->source && (type == MOUNT_IMAGE || type == MOUNT_ARTIFACT || type == MOUNT_GLOB))
                return error_null(error, KT_ERROR_USAGE, "'source=' is missing");
        return mount_request_complete(request, error) ? g_steal_pointer(&request) : NULL;
}

MountRequest *mount_request_parse_mount(const char *value, GError **error) {
        return parse_fields(value, error) ?: error_prefix_null(error, "mount '%s': ", value);
}
