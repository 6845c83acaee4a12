/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/value/image-volume.h"
#include "libstart/base/error.h"

bool image_volume_parse(const char *value, ImageVolumes *ret, GError **error) {
        static const struct {
                const char *name;
                ImageVolumes meaning;
        } names[] = {
                { "", IMAGE_VOLUMES_ANONYMOUS },     { "anonymous", IMAGE_VOLUMES_ANONYMOUS },
                { "bind", IMAGE_VOLUMES_KEPT },      { "tmpfs", IMAGE_VOLUMES_TMPFS },
                { "ignore", IMAGE_VOLUMES_IGNORED },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                if (g_str_equal(value, names[i].name)) {
                        *ret = names[i].meaning;
                        return true;
                }
        return error_set(error, KT_ERROR_USAGE, "'%s' is none of anonymous, bind, tmpfs and ignore", value);
}
