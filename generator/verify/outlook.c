/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "generator/verify/outlook.h"
#include "libstart/base/string-prefix.h"
#include "libstart/oci/image-config.h"
#include "libstart/oci/user.h"
#include "libstart/request/mount-request.h"
#include "libstart/request/secret-request.h"
#include "libstart/request/storage-option.h"
#include "libstart/store/artifact.h"
#include "libstart/store/image.h"
#include "libstart/store/podman-secrets.h"
#include "libstart/store/reference.h"
#include "libstart/store/store-conf.h"
#include "libstart/userns/owner.h"
#include "libstart/value/capability.h"
#include "libstart/value/unit-words.h"

void outlook_init(Outlook *outlook, const char *root) {
        g_autofree char *podman = g_strconcat(root, "/usr/bin/podman", NULL);

        *outlook = (Outlook) { .root = root, .has_podman = g_file_test(podman, G_FILE_TEST_EXISTS) };
}

/* At the last line of [Container] with the key, or of PodmanArgs=, that has `text`. */
static void G_GNUC_PRINTF(6, 7) warn(Report *report, const MadeUnit *unit, const char *rule, const char *key,
                                     const char *text, const char *format, ...) {
        const UnitLine *line = source_find_line(unit->source, "Container", key, text);
        g_autofree char *message = NULL;
        va_list ap;

        if (!line)
                line = source_find_line(unit->source, "Container", "PodmanArgs", text);
        va_start(ap, format);
        message = g_strdup_vprintf(format, ap);
        va_end(ap);
        report_add(report, line ? line->path : unit->source->path, line ? line->number : 0, line ? line->key : NULL,
                   false, rule, message);
}

/*
 * Images
 */

static bool has_any_store(const char *root, const GPtrArray *stores) {
        g_autoptr(StoreConf) conf = store_conf_load(root, stores, NULL);

        for (char **store = conf ? conf->stores : NULL; store && *store; store++)
                if (g_file_test(*store, G_FILE_TEST_IS_DIR))
                        return true;
        return false;
}

/* By a service ahead of the container's: of its Pull=, or of the .image or .build file that it names. */
static bool is_brought(const MadeUnit *unit) {
        return strstr(unit->text, "\nRequires=keyturn-pull-") || strstr(unit->text, "\nWants=keyturn-pull-") ||
               source_find_line(unit->source, "Container", "Image", ".image") ||
               source_find_line(unit->source, "Container", "Image", ".build");
}

static void miss_image(Outlook *outlook, const MadeUnit *unit, const GPtrArray *stores, const GError *error,
                       Report *report) {
        const char *name = unit->args->image;

        if (is_brought(unit))
                return;
        if (has_any_store(outlook->root, stores)) {
                warn(report, unit, "image-missing", "Image", name, "%s", error->message);
                return;
        }
        if (!outlook->said_no_images)
                warn(report, unit, "no-images", "Image", name,
                     "there are no images here at all (said once); --root looks into the tree of a system image, "
                     "--files-only looks at no images");
        outlook->said_no_images = true;
}

static void check_name(const MadeUnit *unit, const StoreImage *image, Report *report) {
        const char *name = unit->args->image;
        g_autoptr(Reference) reference = reference_parse(name, NULL);

        if (!reference || !reference->is_short || (image && g_str_equal(image->name, image->id)))
                return;
        warn(report, unit, "image-short-name", "Image", name,
             "'%s' names no registry, so which image it is depends on registries.conf; write '%s'", name,
             image ? image->name : "REGISTRY/NAME");
}

/* NULL where there is none, or none can be known. */
static StoreImage *check_image(Outlook *outlook, const MadeUnit *unit, Report *report) {
        g_autoptr(GPtrArray) stores = storage_option_find_stores(unit->args->storage_opt);
        const char *name = unit->args->image;
        g_autoptr(GError) error = NULL;
        StoreImage *image;

        if (unit_word_is_unexpanded(name) || launch_args_has_users_store(unit->args)) /* hers is not looked into */
                return NULL;
        image = store_image_find(outlook->root, name, stores, &error);
        if (!image)
                miss_image(outlook, unit, stores, error, report);
        else if (image->writable_store && outlook->has_podman && !outlook->said_prune) {
                warn(report, unit, "image-prunable", "Image", name,
                     "'%s' is in %s, from where `podman image prune --all` removes it while no container of Podman's "
                     "uses it (said once); put it into an additional image store of storage.conf",
                     name, image->store + strlen(outlook->root));
                outlook->said_prune = true;
        }
        check_name(unit, image, report);
        return image;
}

/* Of a name that its Mount= has itself: what a file there makes is brought ahead. */
static void check_mounted(const MadeUnit *unit, const Outlook *outlook, const MountRequest *mount,
                          const GPtrArray *stores, Report *report) {
        bool is_artifact = mount->type == MOUNT_ARTIFACT;
        g_autoptr(GPtrArray) artifact = NULL;
        g_autoptr(StoreImage) image = NULL;
        g_autoptr(GError) error = NULL;

        if (unit_word_is_unexpanded(mount->source) ||
            !source_find_line(unit->source, "Container", "Mount", mount->source))
                return;
        if (is_artifact)
                artifact = store_artifact_find(outlook->root, mount->source, stores, &error);
        else
                image = store_image_find(outlook->root, mount->source, stores, &error);
        if (error)
                warn(report, unit, is_artifact ? "artifact-missing" : "image-missing", "Mount", mount->source, "%s",
                     error->message);
}

/*
 * Users and ports
 */

/* Is what lower layers have at this directory hidden? */
static bool is_opaque(const char *directory) {
        char value;

        return lgetxattr(directory, "trusted.overlay.opaque", &value, 1) == 1 && value == 'y';
}

/* The text of a file in /etc as the uppermost layer that has it says. False: it is there, and no plain file. */
static bool read_file(char *const *layers, const char *name, char **ret) {
        *ret = NULL;
        for (; *layers; layers++) {
                g_autofree char *etc = g_build_filename(*layers, "etc", NULL);
                g_autofree char *path = g_build_filename(etc, name, NULL);
                struct stat st;

                if (lstat(etc, &st) < 0)
                        continue;
                if (!S_ISDIR(st.st_mode)) /* removed, or a link */
                        return S_ISCHR(st.st_mode);
                if (lstat(path, &st) == 0)
                        return S_ISCHR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_size < 1 << 20 &&
                                                       g_file_get_contents(path, ret, NULL, NULL));
                if (is_opaque(etc))
                        return true;
        }
        return true;
}

/* Does an image with these layers have the user (USER[:GROUP], as `podman run --user`)? Also true where that cannot
 * be told from the layers' files alone. */
static bool has_user(char *const *layers, const char *user, GError **error) {
        g_autofree char *passwd = NULL, *group = NULL;
        g_auto(UserIdentity) identity = { 0 };

        return !read_file(layers, "passwd", &passwd) || !read_file(layers, "group", &group) ||
               user_resolve(user, passwd, group, &identity, error);
}

static void check_user(const Outlook *outlook, const MadeUnit *unit, const StoreImage *image, Report *report) {
        const char *user = unit->args->user;
        g_autoptr(GError) error = NULL;

        if (!user || unit_word_is_unexpanded(user) || has_user(image->layers, user, &error))
                return;
        warn(report, unit, "user-missing", "User", NULL, "%s", error->message);
}

/* Whom the container is to belong to. */
static void check_owner(const Outlook *outlook, const MadeUnit *unit, Report *report) {
        g_autofree char *passwd = g_strconcat(outlook->root, "/etc/passwd", NULL);
        g_auto(UserIdentity) identity = { 0 };
        const UnitLine *line = source_find_line(unit->source, "Service", "User", NULL);
        g_autoptr(GError) error = NULL;

        if (!line || !unit->args->owner || unit_word_is_unexpanded(unit->args->owner) ||
            !g_file_test(passwd, G_FILE_TEST_EXISTS))
                return;
        if (!owner_resolve(outlook->root, unit->args->owner, &identity, &error))
                report_add(report, line->path, line->number, line->key, false, "owner-missing", error->message);
}

/* Transfer full. */
static char *find_user(const MadeUnit *unit, const StoreImage *image) {
        g_autoptr(ImageConfig) config = image ? image_config_parse(image->config, NULL) : NULL;

        return g_strdup(unit->args->user ?: (config ? config->user : NULL));
}

static bool is_root(const char *user) {
        size_t length = strcspn(user, ":");

        return length == 0 || strncmp(user, "0", MAX(length, 1)) == 0 || strncmp(user, "root", MAX(length, 4)) == 0;
}

static bool may_bind(const Outlook *outlook, const LaunchArgs *args, guint64 port) {
        g_autofree char *text = NULL;
        guint64 caps = 0;

        (void) capability_parse_all(args->cap_add, &caps, NULL);
        if (caps & G_GUINT64_CONSTANT(1) << 10) /* CAP_NET_BIND_SERVICE */
                return true;
        for (guint i = 0; i < args->sysctls->len; i++)
                if (g_str_has_prefix(args->sysctls->pdata[i], "net.ipv4.ip_unprivileged_port_start="))
                        return true;
        return g_strcmp0(args->network, "host") == 0 && !outlook->root[0] &&
               g_file_get_contents("/proc/sys/net/ipv4/ip_unprivileged_port_start", &text, NULL, NULL) &&
               g_ascii_strtoull(text, NULL, 10) <= port;
}

/* The port in the container: behind the last colon. */
static void check_port(const Outlook *outlook, const MadeUnit *unit, const UnitLine *line, const char *user,
                       Report *report) {
        const char *colon = strrchr(line->value, ':');
        guint64 port = g_ascii_strtoull(colon ? colon + 1 : line->value, NULL, 10);
        g_autofree char *message = NULL;

        if (port == 0 || port >= 1024 || may_bind(outlook, unit->args, port))
                return;
        message = g_strdup_printf("user '%s' cannot listen on port %" G_GUINT64_FORMAT
                                  ": below 1024 that takes root, AddCapability=NET_BIND_SERVICE, or another port",
                                  user, port);
        report_add(report, line->path, line->number, line->key, false, "port", message);
}

static void check_ports(const Outlook *outlook, const MadeUnit *unit, const StoreImage *image, Report *report) {
        const UnitSection *section = unit_file_section(unit->source->unit, "Container");
        g_autofree char *user = find_user(unit, image);

        if (!user || unit_word_is_unexpanded(user) || is_root(user))
                return;
        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (g_strcmp0(line->key, "PublishPort") == 0)
                        check_port(outlook, unit, line, user, report);
        }
}

/*
 * Files of the host
 */

/* What comes and goes while the machine runs. */
static bool is_volatile(const char *path) {
        static const char *const directories[] = { "/run/", "/var/run/", "/dev/", "/proc/", "/sys/", "/tmp/", NULL };

        return string_prefix(path, directories);
}

/* Does the service make it itself: by a command, or by StateDirectory= and the like? */
static bool is_made(const MadeUnit *unit, const char *path) {
        static const struct {
                const char *key, *base;
        } directories[] = { { "CacheDirectory", "/var/cache/" },
                            { "ConfigurationDirectory", "/etc/" },
                            { "LogsDirectory", "/var/log/" },
                            { "StateDirectory", "/var/lib/" } };

        if (source_find_line(unit->source, "Service", "ExecStartPre", path))
                return true;
        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
                if (g_str_has_prefix(path, directories[i].base) &&
                    source_find_line(unit->source, "Service", directories[i].key, path + strlen(directories[i].base)))
                        return true;
        return false;
}

static void check_path(const Outlook *outlook, const MadeUnit *unit, const char *key, const char *path,
                       const char *what, Report *report) {
        g_autofree char *full = g_strconcat(outlook->root, path, NULL), *name = g_path_get_basename(path);
        struct stat st;

        if (unit_word_is_unexpanded(path) || path[0] != '/' || is_volatile(path) || is_made(unit, path) ||
            lstat(full, &st) == 0 || errno != ENOENT)
                return;
        warn(report, unit, "file-missing", key, name,
             "%s '%s' is not there; the start fails without it, and makes none", what, path);
}

static void check_paths(const Outlook *outlook, const MadeUnit *unit, Report *report) {
        const LaunchArgs *args = unit->args;
        g_autoptr(GPtrArray) stores = storage_option_find_stores(args->storage_opt);

        for (guint i = 0; i < args->volumes->len; i++) {
                g_autoptr(MountRequest) request = mount_request_parse_volume(args->volumes->pdata[i], NULL);

                if (request && request->type == MOUNT_BIND)
                        check_path(outlook, unit, "Volume", request->source, "the source", report);
        }
        for (guint i = 0; i < args->mounts->len; i++) {
                g_autoptr(MountRequest) request = mount_request_parse_mount(args->mounts->pdata[i], NULL);

                if (request && request->type == MOUNT_BIND)
                        check_path(outlook, unit, "Mount", request->source, "the source", report);
                else if (request && (request->type == MOUNT_ARTIFACT || request->type == MOUNT_IMAGE))
                        check_mounted(unit, outlook, request, stores, report);
        }
        for (guint i = 0; i < args->env_files->len; i++)
                check_path(outlook, unit, "EnvironmentFile", args->env_files->pdata[i], "the file", report);
        if (args->rootfs == FLAG_TRUE) {
                g_autofree char *path = g_strndup(args->image, strcspn(args->image, ":"));

                check_path(outlook, unit, "Rootfs", path, "the directory", report);
        }
}

/*
 * Secrets
 */

static bool is_credential(const Outlook *outlook, const MadeUnit *unit, const char *name) {
        static const char *const stores[] = { "/etc/credstore", "/run/credstore", "/usr/local/lib/credstore",
                                              "/usr/lib/credstore", "/run/credentials/@system" };
        static const char *const keys[] = { "LoadCredential", "LoadCredentialEncrypted", "SetCredential",
                                            "SetCredentialEncrypted" };
        g_autofree char *given = g_strconcat(name, ":", NULL);

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
                if (source_find_line(unit->source, "Service", keys[i], given))
                        return true;
        for (size_t i = 0; i < G_N_ELEMENTS(stores); i++)
                for (guint encrypted = 0; encrypted <= 1; encrypted++) {
                        g_autofree char *path = g_strconcat(outlook->root, stores[i], encrypted ? ".encrypted/" : "/",
                                                            name, NULL);

                        if (g_file_test(path, G_FILE_TEST_EXISTS))
                                return true;
                }
        return false;
}

static void check_secret(const Outlook *outlook, const MadeUnit *unit, const char *name, Report *report) {
        g_autofree char *store = NULL;
        g_autoptr(GError) error = NULL;
        char *value = NULL;
        gsize length = 0;

        if (unit_word_is_unexpanded(name) || is_credential(outlook, unit, name))
                return;
        if (!podman_secret_find(outlook->root, name, &value, &length, &store, &error))
                warn(report, unit, "secret-missing", "Secret", name, "'%s': %s", name, error->message);
        else if (value)
                secret_value_free(value, length);
        else
                warn(report, unit, "secret-missing", "Secret", name,
                     "'%s' is no credential in /etc/credstore, and no secret of Podman's in %s", name,
                     store + strlen(outlook->root));
}

void outlook_check(Outlook *outlook, const MadeUnit *unit, Report *report) {
        g_autoptr(StoreImage) image = NULL;

        if (!unit->args)
                return;
        check_owner(outlook, unit, report);
        if (unit->args->rootfs != FLAG_TRUE)
                image = check_image(outlook, unit, report);
        if (image)
                check_user(outlook, unit, image, report);
        check_ports(outlook, unit, image, report);
        check_paths(outlook, unit, report);
        for (guint i = 0; i < unit->args->secrets->len; i++) {
                g_autofree char *name = secret_request_find_name(unit->args->secrets->pdata[i]);

                if (name)
                        check_secret(outlook, unit, name, report);
        }
}

/*
 * Timeouts
 */

static bool is_for_ever(const char *timeout) {
        return g_str_equal(timeout, "0") || g_str_equal(timeout, "infinity");
}

/* systemd gives other services 90 s, and a oneshot all the time in the world. */
void outlook_check_timeout(const MadeUnit *unit, Report *report) {
        const UnitLine *line = source_find_line(unit->source, "Service", "TimeoutStartSec", NULL);
        const UnitLine *type = source_find_line(unit->source, "Service", "Type", NULL);

        if (!unit->args)
                return;
        if (!line)
                line = source_find_line(unit->source, "Service", "TimeoutSec", NULL);
        if (line ? !is_for_ever(line->value) : !type || !g_str_equal(type->value, "oneshot"))
                return;
        line = line ?: type;
        report_add(report, line->path, line->number, line->key, false, "no-timeout",
                   "the start has no timeout: if it hangs, so does all that waits for it; set TimeoutStartSec=");
}
