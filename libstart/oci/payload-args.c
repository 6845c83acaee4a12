/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <yajl/yajl_tree.h>

#include "libstart/base/error.h"
#include "libstart/json/check.h"
#include "libstart/oci/payload-args.h"

#define DEPTH_MAX 64

static void add_list(GPtrArray *words, char *const *list) {
        for (size_t i = 0; list && list[i]; i++)
                g_ptr_array_add(words, g_strdup(list[i]));
}

/* A JSON array of strings, or one word, blanks and all. [""] and "" are no word, yet count as an
 * entrypoint; [] counts as none. */
static bool add_entrypoint(GPtrArray *words, const char *entrypoint, bool *ret_is_none, GError **error) {
        char message[256];
        guint first = words->len;
        yajl_val tree;
        bool ok = true;

        if (!json_check(entrypoint, strlen(entrypoint), DEPTH_MAX, error))
                return error_prefix(error, "--entrypoint: ");
        tree = yajl_tree_parse(entrypoint, message, sizeof message);
        *ret_is_none = false;
        if (!YAJL_IS_ARRAY(tree)) {
                g_ptr_array_add(words, g_strdup(entrypoint));
        } else {
                *ret_is_none = tree->u.array.len == 0;
                for (size_t i = 0; i < tree->u.array.len && ok; i++) {
                        ok = YAJL_IS_STRING(tree->u.array.values[i]);
                        if (ok)
                                g_ptr_array_add(words, g_strdup(YAJL_GET_STRING(tree->u.array.values[i])));
                }
        }
        yajl_tree_free(tree);
        if (!ok)
                return error_set(error, KT_ERROR_USAGE,
                                 "--entrypoint: '%s': the array holds something that is no string", entrypoint);
        if (words->len == first + 1 && ((const char *) words->pdata[first])[0] == '\0')
                g_ptr_array_set_size(words, (int) first);
        return true;
}

char **payload_args_build(const ContainerRequest *request, const ImageConfig *image, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new_with_free_func(g_free);
        bool use_image_cmd = true;
        guint n_init;

        if (request->init) {
                g_ptr_array_add(words, g_strdup(INIT_INSIDE));
                g_ptr_array_add(words, g_strdup("--"));
        }
        n_init = words->len;
        if (!request->entrypoint)
                add_list(words, image->entrypoint);
        else if (!add_entrypoint(words, request->entrypoint, &use_image_cmd, error))
                return NULL;
        for (guint i = 0; i < request->command->len; i++)
                g_ptr_array_add(words, g_strdup(request->command->pdata[i]));
        if (request->command->len == 0 && use_image_cmd)
                add_list(words, image->cmd);

        if (words->len == n_init)
                return error_null(error, KT_ERROR_NOT_FOUND,
                                  "There is nothing to run: set Exec= or Entrypoint=, the image names no command%s",
                                  request->entrypoint ? " of use with this entrypoint" : "");
        g_ptr_array_add(words, NULL);
        return (char **) g_ptr_array_steal(words, NULL);
}
