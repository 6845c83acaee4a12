/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/user-view.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/running-facts.h"
#include "libstart/request/storage-option.h"
#include "libstart/table/table.h"

static const char *const columns[] = { "IMAGE", "UNIT", "ID", "STORE", "#LAYERS", "~CREATED", "PROBLEM", NULL };

static bool add_refused(Table *table, const ContainerUnit *c) {
        table_add(table, g_strdup(c->args->image), g_strdup(c->unit), NULL, NULL, NULL, NULL,
                  g_strdup_printf("its file was %s: systemctl%s cat %s", c->source[0] ? "refused" : "deleted",
                                  user_view_is_here() ? " --user" : "", c->unit));
        return false;
}

static bool add_directory(Table *table, const ContainerUnit *c) {
        g_autofree char *path = g_strdup(c->args->image);
        char *colon = strrchr(path, ':');
        struct stat st;
        bool there;

        if (colon)
                *colon = '\0';
        there = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
        table_add(table, g_strdup(c->args->image), g_strdup(c->unit), NULL, NULL, NULL, NULL,
                  there ? NULL : g_strdup("there is no such directory"));
        return there;
}

/* What is in a user's store only that user's rights look at, when the container starts. */
static bool add_users(Table *table, const ContainerUnit *c) {
        table_add(table, g_strdup(c->args->image), g_strdup(c->unit), NULL, g_strdup_printf("of %s", c->args->owner),
                  NULL, NULL, NULL);
        return true;
}

static bool add_image(Table *table, const ContainerUnit *c) {
        g_autoptr(GError) error = NULL;
        g_autoptr(GPtrArray) stores = storage_option_find_stores(c->args->storage_opt);
        g_autoptr(StoreImage) image = store_image_find("", c->args->image, stores, &error);

        if (!image) {
                table_add(table, g_strdup(c->args->image), g_strdup(c->unit), NULL, NULL, NULL, NULL,
                          g_strdup(error->message));
                return false;
        }
        table_add(table, g_strdup(c->args->image), g_strdup(c->unit), g_strndup(image->id, 12),
                  g_strdup(image->store), g_strdup_printf("%u", g_strv_length(image->layers)),
                  image_find_created(image), NULL);
        return true;
}

/* 1 where something is missing: for the test of a system image. */
int command_images(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(Table) table = table_new(columns);
        bool complete = true;

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *c = all->pdata[i];

                complete &= (c->is_refused                        ? add_refused :
                             c->args->rootfs == FLAG_TRUE         ? add_directory :
                             launch_args_has_users_store(c->args) ? add_users :
                                                                    add_image)(table, c);
        }
        table_print(table, options->json);
        return complete ? 0 : 1;
}
