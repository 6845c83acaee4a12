/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/system-image.h"

void system_image_open(SystemImage *image, const char *root, bool is_built, const Tree *tree) {
        *image = (SystemImage) { .root = root, .is_built = is_built, .before = tree ? image_units_read(tree) : NULL };
}

void system_image_clear(SystemImage *image) {
        image_units_free(image->before);
        g_free(image->digest);
        g_clear_pointer(&image->written, g_ptr_array_unref);
}

bool system_image_is_current(SystemImage *image, const Tree *tree, const Sources *sources, KeyturnConf *conf,
                             Hooks *hooks, unsigned missing) {
        if (!image->before && !image->is_built)
                return false;
        image->digest = image_units_digest(tree, sources, conf, hooks);
        return !image->is_built && g_strcmp0(image->digest, image->before->digest) == 0 &&
               !(missing & image->before->controls);
}

void system_image_begin(SystemImage *image, Writer *writer) {
        if (image->is_built && image->before)
                image_units_remove(image->before->names, image->root);
        if (image->before || image->is_built)
                image->written = writer_keep_names(writer, image->is_built);
}

void system_image_mask_others(const SystemImage *image, Writer *writer) {
        if (image->before && !image->is_built)
                image_units_mask_others(image->before, writer);
}

bool system_image_finish(const SystemImage *image, unsigned controls, bool ok, GError **error) {
        const ImageUnits units = { .digest = image->digest, .controls = controls, .names = image->written };

        if (!image->is_built)
                return ok;
        ok = ok && image_units_finish(image->root, &units, error);
        if (!ok)
                image_units_remove(image->written, image->root);
        return ok;
}
