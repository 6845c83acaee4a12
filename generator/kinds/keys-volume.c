/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/kinds/install.h"
#include "generator/kinds/keys-container.h"
#include "generator/kinds/kube-parts.h"
#include "generator/kinds/podman-args.h"
#include "generator/kinds/resource.h"
#include "generator/parts/conf-module.h"
#include "generator/parts/images.h"
#include "generator/parts/mounts.h"
#include "generator/parts/users-container.h"
#include "generator/parts/volumes.h"
#include "generator/unit/keys.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/mount-options.h"
#include "libstart/value/unit-words.h"

static bool handle_driver(Conversion *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "local") || g_str_equal(value->text, "image") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s': volumes are directories of the host (local) or an image's files (image); what a file "
                         "system can mount has Driver=local, Type= and Device=",
                         value->text);
}

/* Podman takes any word for 0, which only root is. */
static bool handle_id(Conversion *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "root") ||
               g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXUINT32 - 1, NULL, NULL) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no number: name the owner by its id", value->text);
}

static bool handle_name(Conversion *container, const Key *key, const Value *value, GError **error) {
        return unit_word_is_unexpanded(value->text) || mount_request_check_volume_source(value->text, error);
}

static const Key volume_keys[] = {
        { "ContainersConfModule", READ_LINES, handle_conf_module, NULL },
        { "Copy", READ_BOOLEAN, handle_nothing, NULL },
        { "Device", READ_LAST, handle_nothing, NULL },
        { "Driver", READ_LAST, handle_driver, NULL },
        { "GID", READ_LAST, handle_id, NULL },
        { "GlobalArgs", READ_ARGS, handle_global_args, NULL },
        { "Group", READ_LAST, handle_id, NULL },
        { "Image", READ_LAST, handle_nothing, NULL },
        { "Label", READ_PAIRS, handle_option, "label" },
        { "Options", READ_LAST, handle_nothing, NULL },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* files/unit-names.c has read it before */
        { "Type", READ_LAST, handle_nothing, NULL },
        { "UID", READ_LAST, handle_id, NULL },
        { "User", READ_LAST, handle_id, NULL },
        { "VolumeName", READ_LAST, handle_name, NULL },
};

static const KeyTable keys_volume = { "Volume", volume_keys, G_N_ELEMENTS(volume_keys) };

static void add_opt(GString *command, const char *name, const char *value) {
        g_autofree char *word = g_strconcat(name, value, NULL);

        unit_words_add_option(command, "--opt", word);
}

/* Podman 6 has the one, those before the other. Transfer full; NULL: neither is given. */
static char *find_id(const SourceFile *source, const char *key, const char *older) {
        char *id = unit_file_value(source->unit, "Volume", key);

        if (!id)
                id = unit_file_value(source->unit, "Volume", older);
        if (g_strcmp0(id, "root") == 0)
                strcpy(id, "0");
        return id;
}

/* Options=, with the owner before, as Podman has them. Transfer full. */
static char *join_options(const SourceFile *source) {
        g_autofree char *options = unit_file_value(source->unit, "Volume", "Options"),
                        *uid = find_id(source, "UID", "User"), *gid = find_id(source, "GID", "Group");
        g_autoptr(GString) all = g_string_new(NULL);

        if (uid)
                g_string_append_printf(all, ",uid=%s", uid);
        if (gid)
                g_string_append_printf(all, ",gid=%s", gid);
        if (options)
                g_string_append_printf(all, ",%s", options);
        return all->len > 0 ? g_strdup(all->str + 1) : NULL;
}

static void refuse(Conversion *container, const char *key, const char *why) {
        const UnitLine *line = conversion_line(container, "Volume", key);

        if (line && line->value[0])
                conversion_problem(container, line, "%s", why);
}

/* May payloads write to the directory that is bound? It is so where any word says it: with mount(8) the last one of
 * "ro" and "rw" counts, and what is mounted below the directory is not made read-only with it ("rbind"). */
static bool is_written(const char *type, const char *options) {
        g_auto(GStrv) words = g_strsplit(options ?: "", ",", -1);

        return mount_options_bind(type, options) && (!g_strv_contains((const char *const *) words, "ro") ||
                                                     g_strv_contains((const char *const *) words, "rw") ||
                                                     g_strv_contains((const char *const *) words, "rbind"));
}

/* An overlay's directories: those above are written to. */
static void add_layers(Conversion *container, const char *options, bool written) {
        g_autoptr(GPtrArray) layers = mount_options_find_layers(options, written);

        for (guint i = 0; i < layers->len; i++)
                mounts_add_source(container, g_strdup(layers->pdata[i]), written);
}

/* As systemd has a .mount unit wait, but that a disk is wanted: where it does not come, mount(8) says so. Of several
 * ("/dev/a:/dev/b") and of names that are not as udev has them no unit is known. */
static void wait_for_device(Conversion *container, const char *device, const char *type, const char *options) {
        g_autofree char *unit = NULL;

        if (!g_str_has_prefix(device, "/dev/") || mount_options_bind(type, options)) {
                mounts_add_source(container, g_strdup(device), is_written(type, options));
                add_layers(container, options, false);
                add_layers(container, options, true);
                mounts_require(container);
        } else if (!strpbrk(device, "%$:") && !strstr(device, "//") && !strstr(device, "/.")) {
                unit = unit_words_device(device);
                service_order_after(container->service, "Wants", unit);
        }
}

/* Of another machine: "host:/path", "//host/share", or by its type. */
static bool is_remote(const char *device, const char *type) {
        static const char *const types[] = { "nfs", "nfs4", "cifs", "smb3", "ceph", "glusterfs", NULL };

        return (type && g_strv_contains(types, type)) || g_str_has_prefix(device, "//") ||
               (device[0] != '/' && strstr(device, ":/"));
}

/* Not before there is a network, and no password where everybody can read it. */
static void mind_network(Conversion *container, const char *options) {
        service_order_after(container->service, "Wants", "network-online.target");
        if (options && strstr(options, "password="))
                conversion_warning(
                        container, conversion_line(container, "Volume", "Options"),
                        "the password stands in the unit, which everybody can read; write credentials=FILE");
}

/* It looks into other processes for who uses the volume, which needs to be allowed where /proc has hidepid=. */
static void set_removal(Conversion *container, const char *name) {
        g_autofree char *stop = g_strdup_printf(KEYTURN_LIBDIR "/libstart volume --remove %s", name);

        service_set(container->service, "ExecStop", stop);
        if (!container->is_users)
                service_set(container->service, "CapabilityBoundingSet", "CAP_SYS_PTRACE");
}

static void set_commands(Conversion *container) {
        const SourceFile *source = container->source;
        g_autofree char *name = volume_file_name(source), *device = unit_file_value(source->unit, "Volume", "Device"),
                        *type = unit_file_value(source->unit, "Volume", "Type"), *options = join_options(source),
                        *copy = unit_file_value(source->unit, "Volume", "Copy"),
                        *stop = g_strdup_printf(KEYTURN_LIBDIR "/libstart volume --unmount %s", name);
        g_autoptr(GString) start = g_string_new(VOLUME_COMMAND);

        if (!unit_word_is_unexpanded(name) && !mount_request_check_volume_source(name, NULL))
                conversion_problem(container, NULL, "'%s' is no name of a volume; set VolumeName=", name);
        if (copy)
                add_opt(start, volume_file_is_no_copy(source) ? "nocopy" : "copy", "");
        if (device && is_remote(device, type))
                mind_network(container, options);
        else if (device)
                wait_for_device(container, device, type, options);
        if (device)
                add_opt(start, "device=", device);
        else {
                refuse(container, "Type", "needs Device=, which says what is mounted");
                refuse(container, "Options", "needs Device=, which says what is mounted");
        }
        if (type)
                add_opt(start, "type=", type);
        if (options)
                add_opt(start, "o=", options);
        unit_words_add_options(start, "--label", container->args->labels);
        unit_words_add(start, name);
        service_set(container->service, "ExecStart", start->str);
        if (device)
                service_set(container->service, "ExecStop", stop);
        else if (kube_part_is_removed(container, name))
                set_removal(container, name);
        if (!device && !container->is_users)
                service_confine_to_store(container->service);
}

/* The containers mount the image themselves, so that there is nothing to make. */
static void set_image(Conversion *container) {
        static const char *const others[] = { "Copy", "Device", "GID", "Group", "Options", "Type", "UID", "User" };
        g_autofree char *image = unit_file_value(container->source->unit, "Volume", "Image"), *name = NULL;
        g_autoptr(GError) error = NULL;

        if (!image)
                conversion_problem(container, conversion_line(container, "Volume", "Driver"),
                                   "image: needs Image=, which says whose files they are");
        else if (image_is_file(image) || image_check_name(image, &error))
                name = image_refer_beside(container, image, &error);
        if (error)
                conversion_problem(container, conversion_line(container, "Volume", "Image"), "%s", error->message);
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                refuse(container, others[i], "means nothing with Driver=image: remove it");
        service_set(container->service, "ExecStart", "/bin/true");
}

/* An emptyDir of Kubernetes', made anew with its pod. Any other tmpfs would be there in one view only. */
static bool is_pods_memory(const Conversion *container) {
        const UnitLine *part = unit_section_last(container->service->user_unit, "PartOf");
        g_autofree char *type = unit_file_value(container->source->unit, "Volume", "Type");

        return g_strcmp0(type, "tmpfs") == 0 && part && g_str_has_suffix(part->value, "-pod.service");
}

static bool is_bind(const Conversion *container) {
        g_autofree char *type = unit_file_value(container->source->unit, "Volume", "Type"),
                        *options = unit_file_value(container->source->unit, "Volume", "Options");

        return mount_options_bind(type, options);
}

/* Whoever mounts it would be root of the view's namespace, which is none for a disk or a network. */
static void check_users(Conversion *container) {
        const UnitLine *line = conversion_line(container, "Volume", "Device");

        if (!container->is_users || !line || !line->value[0] || is_pods_memory(container))
                return;
        if (g_path_is_absolute(line->value) && is_bind(container))
                conversion_problem(container, line,
                                   "a user's manager mounts no file systems: write this directory in place of the "
                                   "volume, Volume=%s:...",
                                   line->value);
        else
                conversion_problem(container, line,
                                   "a user's manager mounts no file systems: let root mount it, with a .mount unit");
}

Conversion *volume_convert(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf) {
        Conversion *container = resource_new(source, service_name, names, conf, &keys_volume);

        podman_args_apply(container, &podman_volume_create);
        conf_modules_finish(container);
        resource_service(container, container->is_users ? "%h" : "/var/lib/containers/storage");
        check_users(container);
        users_container_unit(container, container->service);
        if (volume_file_is_image(source))
                set_image(container);
        else {
                refuse(container, "Image", "needs Driver=image");
                set_commands(container);
        }
        service_limit_start(container->service, "15min");
        install_apply(container);
        return container;
}
