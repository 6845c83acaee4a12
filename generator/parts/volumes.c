/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/images.h"
#include "generator/parts/volumes.h"
#include "generator/unit/file-reference.h"
#include "generator/unit/key.h"
#include "libstart/request/mount-request.h"
#include "libstart/value/unit-words.h"

char *volume_file_name(const SourceFile *source) {
        return unit_file_value(source->unit, "Volume", "VolumeName") ?: name_default(source->name);
}

bool volume_file_is_no_copy(const SourceFile *source) {
        g_autofree char *value = unit_file_value(source->unit, "Volume", "Copy");
        bool copy = true;

        return value && key_parse_boolean(value, &copy, NULL) && !copy;
}

bool volume_file_is_image(const SourceFile *source) {
        g_autofree char *driver = unit_file_value(source->unit, "Volume", "Driver");

        return g_strcmp0(driver, "image") == 0;
}

/* Image= of it, as it is of the volume's instance and not of the container's: "%i", and "p@.image". Transfer full. */
static char *find_given_image(const FileReference *volume) {
        g_autofree char *given = unit_file_value(volume->source->unit, "Volume", "Image"),
                        *image = file_reference_expand(volume, given ?: "");

        return volume->instance && image_is_file(image) && name_is_template(image) ?
                       name_instance(image, volume->instance) :
                       g_steal_pointer(&image);
}

bool volume_is_file(const char *source) {
        return g_str_has_suffix(source, ".volume") && !strchr(source, '/');
}

bool volume_find_image(Conversion *container, const char *source, char **ret_image, GError **error) {
        g_auto(FileReference) volume = { 0 };
        g_autofree char *given = NULL;

        *ret_image = NULL;
        if (!volume_is_file(source))
                return true;
        if (!file_reference_find(container, source, &volume, error))
                return false;
        if (!volume_file_is_image(volume.source))
                return true;
        given = find_given_image(&volume);
        *ret_image = image_refer_beside(container, given, error);
        return *ret_image;
}

static char *refer_to_file(Conversion *container, const char *file, bool *ret_no_copy, GError **error) {
        g_auto(FileReference) volume = { 0 };
        g_autofree char *name = NULL, *device = NULL;

        if (!file_reference_find(container, file, &volume, error))
                return NULL;
        service_order_after(container->service, "Requires", volume.service);
        device = unit_file_value(volume.source->unit, "Volume", "Device");
        if (device)
                container->mounted_volume = volume.source;
        *ret_no_copy = volume_file_is_no_copy(volume.source);
        name = volume_file_name(volume.source);
        return file_reference_expand(&volume, name);
}

char *volume_refer(Conversion *container, const char *source, bool *ret_no_copy, GError **error) {
        g_autofree char *unit = NULL;

        *ret_no_copy = false;
        if (volume_is_file(source))
                return refer_to_file(container, source, ret_no_copy, error);
        if (!unit_word_is_unexpanded(source) && !mount_request_check_volume_source(source, error))
                return NULL;
        unit = g_strdup_printf("keyturn-volume@%s.service", source);
        if (!strchr(source, '$')) /* then libstart makes it */
                service_order_after(container->service, "Wants", unit);
        return g_strdup(source);
}
