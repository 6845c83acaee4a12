/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/id-map.h"
#include "libstart/value/names.h"

/* Which types an option is for. */
enum {
        ON_BIND = 1 << MOUNT_BIND,
        ON_TMPFS = 1 << MOUNT_TMPFS,
        ON_VOLUME = 1 << MOUNT_VOLUME,
        ON_IMAGE = 1 << MOUNT_IMAGE,
        ON_GLOB = 1 << MOUNT_GLOB,
        ON_DEVPTS = 1 << MOUNT_DEVPTS,
        ON_ARTIFACT = 1 << MOUNT_ARTIFACT,
        ON_FILES = ON_BIND | ON_VOLUME | ON_GLOB,
        ON_MOST = ON_FILES | ON_TMPFS,
};

static const char *const type_names[] = {
        [MOUNT_BIND] = "bind mount", [MOUNT_TMPFS] = "tmpfs",
        [MOUNT_VOLUME] = "volume",   [MOUNT_IMAGE] = "mounted image",
        [MOUNT_GLOB] = "glob",       [MOUNT_RAMFS] = "ramfs",
        [MOUNT_DEVPTS] = "devpts",   [MOUNT_ARTIFACT] = "mounted artifact",
};

/* Of one subject, one option can be given. */
typedef enum Subject {
        SUBJECT_WRITE,
        SUBJECT_EXEC,
        SUBJECT_SUID,
        SUBJECT_DEV,
        SUBJECT_PROPAGATION,
        SUBJECT_BIND,
        SUBJECT_LABEL,
        SUBJECT_COPY,
        SUBJECT_COPY_UP,
        SUBJECT_SIZE,
        SUBJECT_MODE,
        SUBJECT_SWAP,
        SUBJECT_ATIME,
        SUBJECT_CACHE,
        SUBJECT_OVERLAY,
        SUBJECT_OWNER,
        SUBJECT_ID_MAP,
        SUBJECT_SUBPATH,
        SUBJECT_UID,
        SUBJECT_GID,
        SUBJECT_MAX,
} Subject;

typedef struct MountOption {
        const char *name;
        int where;
        Subject subject;
        bool silent; /* shapes the request, or means nothing on Linux; not for the OCI runtime */
        bool (*check)(const char *value, GError **error);
        bool optional; /* it may have no value, though it has a check */
} MountOption;

static bool check_tmpfs_size(const char *value, GError **error) {
        size_t digits = strspn(value, "0123456789");
        const char *unit = value + digits;

        if (digits == 0 || (*unit && (!strchr("kKmMgGtTpPeE%", *unit) || unit[1])))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no size of a tmpfs: write bytes, or a number with k, m, g or %%", value);
        return true;
}

static bool check_tmpfs_mode(const char *value, GError **error) {
        if (!*value || strlen(value) > 5 || value[strspn(value, "01234567")])
                return error_set(error, KT_ERROR_USAGE, "'%s' is no octal mode such as 1777", value);
        return true;
}

static bool check_number(const char *value, GError **error) {
        return (*value && strlen(value) <= 9 && !value[strspn(value, "0123456789")]) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no number", value);
}

/* Of a volume; whether it begins with a '/' makes no difference. */
static bool check_subpath(const char *value, GError **error) {
        return *value || error_set(error, KT_ERROR_USAGE, "the path in the volume is empty");
}

static bool check_id_map(const char *value, GError **error) {
        g_autoptr(GArray) uids = NULL, gids = NULL;

        return id_map_parse_mount(value, NULL, NULL, &uids, &gids, error);
}

static const MountOption mount_options[] = {
        { "ro", ON_MOST | ON_IMAGE | ON_ARTIFACT, SUBJECT_WRITE },
        { "rw", ON_MOST, SUBJECT_WRITE },
        { "exec", ON_MOST, SUBJECT_EXEC },
        { "noexec", ON_MOST, SUBJECT_EXEC },
        { "suid", ON_MOST, SUBJECT_SUID },
        { "nosuid", ON_MOST | ON_ARTIFACT, SUBJECT_SUID },
        { "dev", ON_MOST, SUBJECT_DEV },
        { "nodev", ON_MOST | ON_IMAGE | ON_ARTIFACT, SUBJECT_DEV }, /* an image is never anything else */
        { "private", ON_MOST, SUBJECT_PROPAGATION },
        { "rprivate", ON_MOST, SUBJECT_PROPAGATION },
        { "slave", ON_MOST, SUBJECT_PROPAGATION },
        { "rslave", ON_MOST, SUBJECT_PROPAGATION },
        { "shared", ON_MOST, SUBJECT_PROPAGATION },
        { "rshared", ON_MOST, SUBJECT_PROPAGATION },
        { "unbindable", ON_MOST, SUBJECT_PROPAGATION },
        { "runbindable", ON_MOST, SUBJECT_PROPAGATION },
        { "bind", ON_FILES, SUBJECT_BIND },
        { "rbind", ON_FILES, SUBJECT_BIND },
        { "z", ON_FILES, SUBJECT_LABEL, .silent = true },
        { "Z", ON_FILES, SUBJECT_LABEL, .silent = true },
        { "O", ON_BIND | ON_VOLUME, SUBJECT_OVERLAY, .silent = true },
        { "U", ON_FILES | ON_TMPFS, SUBJECT_OWNER, .silent = true },
        { "idmap", ON_BIND | ON_VOLUME, SUBJECT_ID_MAP, .silent = true, .optional = true, .check = check_id_map },
        { "copy", ON_VOLUME, SUBJECT_COPY, .silent = true },             /* the default */
        { "nocopy", ON_BIND | ON_VOLUME, SUBJECT_COPY, .silent = true }, /* of no meaning for a host directory */
        { "cached", ON_FILES, SUBJECT_CACHE, .silent = true },    /* Docker on macOS; podman accepts and drops it */
        { "delegated", ON_FILES, SUBJECT_CACHE, .silent = true }, /* likewise */
        { "subpath", ON_VOLUME | ON_IMAGE, SUBJECT_SUBPATH, .silent = true, .check = check_subpath },
        { "uid", ON_DEVPTS, SUBJECT_UID, .check = check_number },
        { "gid", ON_DEVPTS, SUBJECT_GID, .check = check_number },
        { "max", ON_DEVPTS, SUBJECT_MAX, .check = check_number },
        { "tmpcopyup", ON_TMPFS, SUBJECT_COPY_UP },
        { "notmpcopyup", ON_TMPFS, SUBJECT_COPY_UP, .silent = true },
        { "size", ON_TMPFS, SUBJECT_SIZE, .check = check_tmpfs_size },
        { "mode", ON_TMPFS | ON_DEVPTS, SUBJECT_MODE, .check = check_tmpfs_mode },
        { "noswap", ON_TMPFS, SUBJECT_SWAP },
        { "noatime", ON_TMPFS, SUBJECT_ATIME },
};

/* What podman has beyond that, and what to do without it. */
static const struct {
        const char *name, *advice;
} refused[] = {
        { "copy-symlink", "mount the directory that the link points to" },
        { "no-dereference", "mount the file that the link points to" },
        { "upperdir", "overlay volumes are not supported; mount it with a .mount unit, and name that directory" },
        { "workdir", "overlay volumes are not supported; mount it with a .mount unit, and name that directory" },
};

void mount_request_free(MountRequest *request) {
        g_free(request->source);
        g_free(request->destination);
        g_free(request->subpath);
        g_free(request->id_map);
        g_free(request->title);
        g_free(request->digest);
        g_free(request->file_name);
        g_ptr_array_unref(request->options);
        g_free(request);
}

MountRequest *mount_request_new(MountType type) {
        MountRequest *request = g_new0(MountRequest, 1);

        request->type = type;
        request->options = g_ptr_array_new_with_free_func(g_free);
        return request;
}

static bool check_reference(const char *reference, GError **error) {
        return *reference || error_set(error, KT_ERROR_USAGE, "the name of the image or artifact is missing");
}

bool mount_request_set_source(MountRequest *request, const char *path, GError **error) {
        bool is_path = request->type == MOUNT_BIND || request->type == MOUNT_GLOB;
        if (request->type == MOUNT_VOLUME && path[0] == '/')
                return error_set(error, KT_ERROR_USAGE,
                                 "source: '%s' is a path, not the name of a volume: write type=bind", path);
        bool is_image = request->type == MOUNT_IMAGE || request->type == MOUNT_ARTIFACT;
        bool (*check)(const char *, GError **) = is_path  ? path_value_check :
                                                 is_image ? check_reference :
                                                            name_check_volume;

        if (!check(path, error))
                return error_prefix(error, "source: ");
        g_free(request->source);
        request->source = is_path ? path_value_clean(path) : g_strdup(path);
        return true;
}

bool mount_request_set_destination(MountRequest *request, const char *path, GError **error) {
        if (!path_value_check(path, error))
                return error_prefix(error, "destination: ");

        g_autofree char *clean = path_value_clean(path);
        if (g_str_equal(clean, "/"))
                return error_set(error, KT_ERROR_USAGE,
                                 "destination: nothing can be mounted on '/'; use Rootfs= for another root");
        g_free(request->destination);
        request->destination = g_steal_pointer(&clean);
        return true;
}

static const MountOption *find_option(const char *name, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(mount_options); i++)
                if (strlen(mount_options[i].name) == length && strncmp(mount_options[i].name, name, length) == 0)
                        return &mount_options[i];
        return NULL;
}

static bool refuse_option(const char *option, size_t length, GError **error) {
        for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
                if (strlen(refused[i].name) == length && strncmp(refused[i].name, option, length) == 0)
                        return error_set(error, KT_ERROR_UNSUPPORTED, "mount option '%s' is not supported: %s",
                                         option, refused[i].advice);
        return error_set(error, KT_ERROR_USAGE, "unknown mount option '%s'", option);
}

/* Silent options stay in the request until mount_request_complete() drops them. */
static const MountOption *find_subject(const MountRequest *request, Subject subject) {
        for (guint i = 0; i < request->options->len; i++) {
                const char *given = request->options->pdata[i];
                const MountOption *option = find_option(given, strcspn(given, "="));

                if (option && option->subject == subject)
                        return option;
        }
        return NULL;
}

/* Docker takes them, Podman does not. */
static const char *advise(const MountRequest *request, const MountOption *option) {
        bool is_owner = option->subject == SUBJECT_UID || option->subject == SUBJECT_GID;

        return is_owner && request->type == MOUNT_TMPFS ? ": U gives it to the payload's user and group" : "";
}

bool mount_request_add_option(MountRequest *request, const char *text, GError **error) {
        size_t length = strcspn(text, "=");
        const char *value = text[length] ? text + length + 1 : NULL;
        const MountOption *option = find_option(text, length);

        if (!option)
                return refuse_option(text, length, error);
        if (!(option->where & 1 << request->type))
                return error_set(error, KT_ERROR_USAGE, "mount option '%s' is not for a %s%s", option->name,
                                 type_names[request->type], advise(request, option));
        if (!option->check != !value && (value || !option->optional))
                return error_set(error, KT_ERROR_USAGE, "mount option '%s' %s", option->name,
                                 value ? "takes no value" : "needs a value");
        if (value && !option->check(value, error))
                return false;

        const MountOption *earlier = find_subject(request, option->subject);
        if (earlier)
                return error_set(error, KT_ERROR_USAGE, "mount options '%s' and '%s' exclude each other",
                                 earlier->name, option->name);
        g_ptr_array_add(request->options, g_strdup(text));
        return true;
}

static bool add_options(MountRequest *request, const char *comma_separated, GError **error) {
        g_auto(GStrv) options = g_strsplit(comma_separated, ",", -1);

        if (!options[0])
                return error_set(error, KT_ERROR_USAGE, "the options after the last ':' are missing");
        for (size_t i = 0; options[i]; i++)
                if (!mount_request_add_option(request, options[i], error))
                        return false;
        return true;
}

static void add_default(MountRequest *request, Subject subject, const char *option) {
        if (!find_subject(request, subject))
                g_ptr_array_add(request->options, g_strdup(option));
}

/* What the request itself says is not for the OCI runtime. */
static void take_silent(MountRequest *request) {
        request->relabel = mount_request_has_option(request, "z") ? RELABEL_SHARED :
                           mount_request_has_option(request, "Z") ? RELABEL_PRIVATE :
                                                                    RELABEL_NO;
        request->overlay = find_subject(request, SUBJECT_OVERLAY);
        request->chown = find_subject(request, SUBJECT_OWNER);
        request->no_copy = mount_request_has_option(request, "nocopy");
        for (guint i = request->options->len; i-- > 0;) {
                const char *given = request->options->pdata[i];
                const MountOption *option = find_option(given, strcspn(given, "="));

                if (option->subject == SUBJECT_ID_MAP)
                        request->id_map = g_strdup(strchr(given, '=') ? strchr(given, '=') + 1 : "");
                if (option->subject == SUBJECT_SUBPATH)
                        request->subpath = g_strdup(strchr(given, '=') + 1);
                if (option->silent)
                        g_ptr_array_remove_index(request->options, i);
        }
}

/* A mount that the host's mounts can come into later cannot be mapped with them. */
static bool takes_later_mounts(const MountRequest *request) {
        return !mount_request_has_option(request, "private") && !mount_request_has_option(request, "rprivate");
}

/* It is a directory of the container's root, or a tmpfs. */
static bool check_anonymous(const MountRequest *request, GError **error) {
        static const char *const taken[] = { "rw", "exec", "nosuid",   "nodev", "rbind", "copy",
                                             "U",  "z",    "rprivate", "Z",     NULL };

        for (guint i = 0; i < request->options->len; i++)
                if (!g_strv_contains(taken, request->options->pdata[i]))
                        return error_set(error, KT_ERROR_UNSUPPORTED,
                                         "'%s' is not for a volume without a name: give it one (source)",
                                         (const char *) request->options->pdata[i]);
        return true;
}

bool mount_request_complete(MountRequest *request, GError **error) {
        bool has_files = ON_FILES & 1 << request->type, is_tmpfs = request->type == MOUNT_TMPFS;

        if (mount_request_is_anonymous(request) && !check_anonymous(request, error))
                return false;
        if (request->type == MOUNT_IMAGE) {
                add_default(request, SUBJECT_WRITE, "ro");
                add_default(request, SUBJECT_DEV, "nodev"); /* whatever is in it */
        }
        if (request->type == MOUNT_ARTIFACT) {
                add_default(request, SUBJECT_WRITE, "ro"); /* it is the store's */
                add_default(request, SUBJECT_SUID, "nosuid");
                add_default(request, SUBJECT_DEV, "nodev");
                add_default(request, SUBJECT_BIND, "bind");
        }
        if (has_files || is_tmpfs) {
                add_default(request, SUBJECT_WRITE, "rw");
                add_default(request, SUBJECT_PROPAGATION,
                            mount_request_has_option(request, "bind") ? "private" : "rprivate");
        }
        if (has_files)
                add_default(request, SUBJECT_BIND, "rbind");
        if (request->type == MOUNT_VOLUME || is_tmpfs) {
                add_default(request, SUBJECT_SUID, "nosuid");
                add_default(request, SUBJECT_DEV, "nodev");
        }
        if (is_tmpfs)
                add_default(request, SUBJECT_COPY_UP, "tmpcopyup");
        take_silent(request);
        if (request->overlay && (request->chown || mount_request_has_option(request, "ro")))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "mount option 'O' goes with neither 'U' nor 'ro': what is written to it goes with "
                                 "the container, and 'ro' alone keeps the files as they are");
        if (request->id_map && (request->overlay || request->chown || takes_later_mounts(request)))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "mount option 'idmap' goes with none of 'O', 'U', and shared or slave propagation");
        if ((request->overlay || request->subpath) && has_files && takes_later_mounts(request))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "mount option '%s' goes with no propagation but rprivate, the default",
                                 request->overlay ? "O" : "subpath");
        return true;
}

bool mount_request_is_anonymous(const MountRequest *request) {
        return request->type == MOUNT_VOLUME && !request->source;
}

bool mount_request_has_option(const MountRequest *request, const char *option) {
        return g_ptr_array_find_with_equal_func(request->options, option, g_str_equal, NULL);
}

bool mount_request_is_shared(const MountRequest *request) {
        return request->type != MOUNT_TMPFS &&
               (mount_request_has_option(request, "shared") || mount_request_has_option(request, "rshared"));
}

bool mount_request_refuse_in_shared(const char *what, const char *path, const char *shared, GError **error) {
        return error_set(
                error, KT_ERROR_USAGE,
                "%s '%s': the mount on '%s' shares what is mounted in it with the host, where this would be "
                "mounted, too, and stay: give that mount private or slave propagation (rprivate, rslave), or "
                "choose another path",
                what, path, shared);
}

static bool are_same(const GPtrArray *a, const GPtrArray *b) {
        if (a->len != b->len)
                return false;
        for (guint i = 0; i < a->len; i++)
                if (!g_str_equal(a->pdata[i], b->pdata[i]))
                        return false;
        return true;
}

static bool is_same(const MountRequest *a, const MountRequest *b) {
        return a->type == b->type && g_strcmp0(a->source, b->source) == 0 && are_same(a->options, b->options) &&
               g_strcmp0(a->subpath, b->subpath) == 0 && g_strcmp0(a->id_map, b->id_map) == 0 &&
               g_strcmp0(a->title, b->title) == 0 && g_strcmp0(a->digest, b->digest) == 0 &&
               g_strcmp0(a->file_name, b->file_name) == 0 && a->overlay == b->overlay && a->chown == b->chown &&
               a->no_copy == b->no_copy && a->relabel == b->relabel;
}

static bool is_in_shared(const MountRequest *request, const MountRequest *other) {
        return mount_request_is_shared(other) && path_value_covers(other->destination, request->destination);
}

bool mount_request_check_beside(const MountRequest *request, const MountRequest *other, GError **error) {
        if (g_str_equal(request->destination, other->destination))
                return mount_request_is_anonymous(request) || mount_request_is_anonymous(other) ||
                       is_same(request, other) ||
                       error_set(error, KT_ERROR_USAGE, MOUNT_REQUEST_TWO, request->destination);
        if (is_in_shared(request, other))
                return mount_request_refuse_in_shared("Mount on", request->destination, other->destination, error);
        return !is_in_shared(other, request) ||
               mount_request_refuse_in_shared("Mount on", other->destination, request->destination, error);
}

bool mount_request_check_id_map(const MountRequest *request, bool has_userns, GError **error) {
        if (!request->id_map || has_userns)
                return true;
        if (!request->id_map[0])
                return error_set(
                        error, KT_ERROR_USAGE,
                        "Cannot mount '%s' with 'idmap': the container has no user namespace to map it for; give "
                        "it one (UserNS=, UIDMap=), or say which ids: idmap=uids=...;gids=...",
                        request->source);
        return !strchr(request->id_map, '@') ||
               error_set(error, KT_ERROR_USAGE,
                         "Cannot mount '%s' with 'idmap=%s': a @ is an id of the container's user namespace, and it "
                         "has none",
                         request->source, request->id_map);
}

/*
 * --volume and --tmpfs: parts between colons
 */

bool mount_request_check_volume_source(const char *source, GError **error) {
        if (source[0] == '\0')
                return error_set(error, KT_ERROR_USAGE, "the source before the first ':' is missing");
        if (source[0] == '.')
                return error_set(error, KT_ERROR_USAGE, "source '%s' is relative: write an absolute path", source);
        return source[0] == '/' || name_check_volume(source, error);
}

/* A path alone is an anonymous volume's. */
static bool read_volume(MountRequest *request, char *const *parts, guint n, GError **error) {
        if (n == 0 || n > 3)
                return error_set(error, KT_ERROR_USAGE, "the form is SOURCE:DESTINATION[:OPTIONS]");
        if (n > 1 && !mount_request_check_volume_source(parts[0], error))
                return false;
        request->type = n > 1 && parts[0][0] == '/' ? MOUNT_BIND : MOUNT_VOLUME;
        return (n == 1 || mount_request_set_source(request, parts[0], error)) &&
               mount_request_set_destination(request, parts[n > 1], error) &&
               (n < 3 || add_options(request, parts[2], error));
}

static bool read_tmpfs(MountRequest *request, char *const *parts, guint n, GError **error) {
        if (n == 0 || n > 2)
                return error_set(error, KT_ERROR_USAGE, "the form is DESTINATION[:OPTIONS]");
        return mount_request_set_destination(request, parts[0], error) &&
               (n == 1 || add_options(request, parts[1], error));
}

static MountRequest *parse(MountType type, const char *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ":", -1);
        g_autoptr(MountRequest) request = mount_request_new(type);
        bool is_tmpfs = type == MOUNT_TMPFS;

        if (!(is_tmpfs ? read_tmpfs : read_volume)(request, parts, g_strv_length(parts), error) ||
            !mount_request_complete(request, error))
                return error_prefix_null(error, "%s '%s': ", is_tmpfs ? "tmpfs" : "volume", value);
        return g_steal_pointer(&request);
}

MountRequest *mount_request_parse_volume(const char *value, GError **error) {
        return parse(MOUNT_BIND, value, error);
}

MountRequest *mount_request_parse_tmpfs(const char *value, GError **error) {
        return parse(MOUNT_TMPFS, value, error);
}

MountRequest *mount_request_sketch_volume(const char *value) {
        g_auto(GStrv) parts = g_strsplit(value, ":", 3), options = NULL;
        bool has_source = g_strv_length(parts) > 1;
        MountRequest *request = mount_request_new(MOUNT_BIND);

        request->source = has_source ? g_strdup(parts[0]) : NULL;
        request->destination = g_strdup(has_source ? parts[1] : value);
        options = g_strsplit(has_source && parts[2] ? parts[2] : "", ",", -1);
        for (char **option = options; *option; option++)
                (void) !mount_request_add_option(request, *option, NULL);
        return request;
}
