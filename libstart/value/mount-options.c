/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/value/mount-options.h"

bool mount_options_bind(const char *type, const char *options) {
        g_auto(GStrv) words = g_strsplit(options ?: "", ",", -1);

        return g_strcmp0(type, "bind") == 0 || g_strv_contains((const char *const *) words, "bind") ||
               g_strv_contains((const char *const *) words, "rbind");
}

/* A relative one is mount(8)'s, which works in the root. */
static void add_paths(GPtrArray *layers, const char *list) {
        g_auto(GStrv) paths = g_strsplit(list, ":", -1);

        for (char **path = paths; *path; path++)
                if (**path)
                        g_ptr_array_add(layers, g_strconcat(strchr("/%$", **path) ? "" : "/", *path, NULL));
}

GPtrArray *mount_options_find_layers(const char *options, bool written) {
        static const char *const names[][4] = {
                { "lowerdir=", "lowerdir+=", "datadir+=", NULL },
                { "upperdir=", "workdir=", NULL },
        };
        GPtrArray *layers = g_ptr_array_new_with_free_func(g_free);
        g_auto(GStrv) words = g_strsplit(options ?: "", ",", -1);

        for (char **word = words; *word; word++)
                for (const char *const *name = names[written]; *name; name++)
                        if (g_str_has_prefix(*word, *name))
                                add_paths(layers, *word + strlen(*name));
        return layers;
}
