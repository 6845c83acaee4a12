/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/images.h"
#include "generator/parts/mounts.h"
#include "generator/parts/volumes.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/unit-words.h"

/* The source as libstart reads it: a path, beside the file or absolute, or the name of a volume. Transfer full. */
static char *find_source(Conversion *container, const char *source, bool *ret_no_copy, GError **error) {
        *ret_no_copy = false;
        if (source[0] == '.')
                return key_resolve_path(container->source->directory, source);
        /* What begins with a specifier or a variable may be either: libstart will see. */
        if (!source[0] || (strchr("/%$", source[0]) && !volume_is_file(source)))
                return g_strdup(source);
        return volume_refer(container, source, ret_no_copy, error);
}

/* Podman's can be written to. */
static void warn_read_only(Conversion *container, const Value *value, const char *volume) {
        conversion_warning(container, value->line, "'%s' has Driver=image and is read-only: say so, by the option ro",
                           volume);
}

static bool set_image_volume(Conversion *container, const Value *value, char *const *parts, const char *image,
                             GError **error) {
        g_autofree char *mount = g_strdup_printf("type=image,source=%s,destination=%s", image, parts[1]);

        if (parts[2] && !g_str_equal(parts[2], "ro"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': a volume with Driver=image has the option ro, and no other", parts[2]);
        if (!parts[2])
                warn_read_only(container, value, parts[0]);
        return key_set_option(container, "mount", mount, error);
}

bool handle_volume(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value->text, ":", 3);
        g_autoptr(MountRequest) sketch = mount_request_sketch_volume(value->text);
        g_autofree char *source = NULL, *resolved = NULL, *image = NULL;
        bool no_copy;

        if (!parts[0] || !parts[1]) /* an anonymous volume, or a mistake */
                return key_set_option(container, "volume", value->text, error);
        if (!volume_find_image(container, parts[0], &image, error))
                return false;
        if (image)
                return set_image_volume(container, value, parts, image, error);
        source = find_source(container, parts[0], &no_copy, error);
        if (!source)
                return false;
        no_copy &= !mount_request_has_option(sketch, "nocopy");
        resolved = g_strconcat(source, ":", parts[1], parts[2] ? ":" : "", parts[2] ?: "",
                               !no_copy ? "" :
                               parts[2] ? ",nocopy" :
                                          ":nocopy",
                               NULL);
        return key_set_option(container, "volume", resolved, error);
}

/* What else stands there is for an image, too, or refused: that it is read-only, and the path in it. */
static bool set_image_of_volume(Conversion *container, const char *mount, const char *image, GError **error) {
        g_autofree char *resolved = mount_request_replace_source(mount, image);
        g_autoptr(GString) text = g_string_new(resolved);

        if (g_string_replace(text, "type=volume", "type=image", 1) == 0) /* it is the default */
                g_string_prepend(text, "type=image,");
        return key_set_option(container, "mount", text->str, error);
}

/* Is the source of such a mount a file that names it? */
static bool is_named_by_file(MountType type, const char *source) {
        return type == MOUNT_ARTIFACT ? g_str_has_suffix(source, ".artifact") :
                                        type == MOUNT_IMAGE && image_is_file(source);
}

/* Mount= of an image or artifact by its file, or of a .volume file with Driver=image. *ret_done: it was one of these.
 */
static bool set_image_mount(Conversion *container, const Value *value, const MountRequest *request, const char *given,
                            bool *ret_done, GError **error) {
        g_autofree char *image = NULL, *resolved = NULL;

        *ret_done = true;
        if (is_named_by_file(request->type, given)) {
                image = image_refer_beside(container, given, error);
                resolved = image ? mount_request_replace_source(value->text, image) : NULL;
                return resolved && key_set_option(container, "mount", resolved, error);
        }
        if (request->type == MOUNT_IMAGE && !image_check_name(given, error))
                return false;
        if (request->type == MOUNT_VOLUME && !volume_find_image(container, given, &image, error))
                return false;
        *ret_done = image;
        if (image && !mount_request_has_option(request, "ro"))
                warn_read_only(container, value, given);
        return !image || set_image_of_volume(container, value->text, image, error);
}

/* "data@.volume" is no name of a volume, and what else stands there counts. */
static MountRequest *parse_mount(const char *text, const char *given) {
        g_autofree char *named = given && g_str_has_suffix(given, ".volume") ?
                                         mount_request_replace_source(text, "volume") :
                                         NULL;

        return mount_request_parse_mount(named ?: text, NULL);
}

bool handle_mount(Conversion *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *given = mount_request_find_source(value->text), *source = NULL, *resolved = NULL,
                        *whole = NULL;
        g_autoptr(MountRequest) request = parse_mount(value->text, given);
        bool no_copy, is_done = false;

        /* `podman run` would take the destination; Podman's generator fails. */
        if (!given && request && request->source)
                return error_set(error, KT_ERROR_USAGE,
                                 "'source=' is missing: name the directory or file of the host");
        if (given && request && !set_image_mount(container, value, request, given, &is_done, error))
                return false;
        if (is_done)
                return true;
        if (!given || !(given[0] == '.' || (request && request->type == MOUNT_VOLUME) ||
                        (!request && g_str_has_suffix(given, ".volume")))) /* no name, but perhaps data@.volume */
                return key_set_option(container, "mount", value->text, error);
        source = find_source(container, given, &no_copy, error);
        if (!source)
                return false;
        resolved = mount_request_replace_source(value->text, source);
        no_copy &= !request || !request->no_copy;
        whole = g_strconcat(resolved, no_copy ? ",nocopy" : "", NULL);
        return key_set_option(container, "mount", whole, error);
}

/*
 * For the unit
 */

void mounts_add_source(Conversion *container, char *path, bool writable) {
        MountSource source = { path, writable };

        g_array_append_val(container->sources, source);
}

void mounts_add_volume(Conversion *container, const char *volume) {
        g_autoptr(MountRequest) request = mount_request_sketch_volume(volume);

        if (request->source)
                mounts_add_source(container, g_strdup(request->source), !mount_request_has_option(request, "ro"));
}

static void add_mount(Conversion *container, const char *mount) {
        g_autoptr(MountRequest) request = mount_request_parse_mount(mount, NULL);
        char *source = mount_request_find_source(mount) ?: request ? g_strdup(request->source) : NULL;

        if (request && request->type == MOUNT_GLOB) { /* what it matches is below */
                char *end = source + strcspn(source, "*?[\\");

                while (end > source && *end != '/')
                        end--;
                *(end == source ? end + 1 : end) = '\0';
        }
        if (source) /* a tmpfs has none */
                mounts_add_source(container, source, !request || !mount_request_has_option(request, "ro"));
}

void mounts_find_sources(Conversion *container) {
        const LaunchArgs *args = container->args;
        const char *rootfs = container->image.rootfs;

        if (rootfs)
                mounts_add_source(container, g_strndup(rootfs, strcspn(rootfs, ":")),
                                  args->read_only != FLAG_TRUE && !strchr(rootfs, ':'));
        for (guint i = 0; i < args->volumes->len; i++)
                mounts_add_volume(container, args->volumes->pdata[i]);
        for (guint i = 0; i < args->mounts->len; i++)
                add_mount(container, args->mounts->pdata[i]);
}

void mounts_require(Conversion *container) {
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        for (guint i = 0; i < container->sources->len; i++) {
                const MountSource *source = &g_array_index(container->sources, MountSource, i);
                char *required = specifiers_required_path(source->path);
                g_autoptr(GString) value = g_string_new(NULL);

                if (!required || !g_hash_table_add(seen, required))
                        continue;
                unit_words_add(value, required);
                service_unit(container->service, "RequiresMountsFor", value->str);
        }
}
