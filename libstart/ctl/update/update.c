/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/ctl/container/generated-units.h"
#include "libstart/ctl/update/commands.h"
#include "libstart/ctl/update/update-image.h"
#include "libstart/ctl/update/update-unit.h"
#include "libstart/image/local.h"
#include "libstart/image/notes.h"
#include "libstart/image/tool.h"
#include "libstart/request/auto-update.h"
#include "libstart/table/table.h"

static void member_free(void *data) {
        UpdateMember *member = data;

        g_free(member->running);
        g_free(member->problem);
        g_free(member);
}

/* Of all that have the key; of one, if it is asked for. */
static GPtrArray *find_members(const GPtrArray *all, const ContainerUnit *only) {
        GPtrArray *members = g_ptr_array_new_with_free_func(member_free);

        for (guint i = 0; i < all->len; i++) {
                ContainerUnit *container = all->pdata[i];
                const char *policy = auto_update_find(container->args->labels);
                UpdateMember *member;

                if (!policy || (only && container != only))
                        continue;
                member = g_new0(UpdateMember, 1);
                member->container = container;
                member->policy = policy;
                member->running = update_runs(container) ? update_find_image(container) : NULL;
                g_ptr_array_add(members, member);
        }
        return members;
}

static int print(const GPtrArray *members, bool json) {
        static const char *const columns[] = { "UNIT", "CONTAINER", "IMAGE", "POLICY", "UPDATED", "PROBLEM", NULL };
        g_autoptr(Table) table = table_new(columns);
        int status = 0;

        for (guint i = 0; i < members->len; i++) {
                const UpdateMember *member = members->pdata[i];

                table_add(table, g_strdup(member->container->unit), g_strdup(member->container->args->name),
                          g_strdup(member->container->args->image), g_strdup(member->policy),
                          g_strdup(member->updated), g_strdup(member->problem));
                if (g_str_equal(member->updated, "failed") || g_str_equal(member->updated, "rolled back"))
                        status = 1;
        }
        table_print(table, json);
        return status;
}

/* Podman knows nothing of who runs an image, and removes one without a name. */
static void tell_who_runs_another(const GPtrArray *all, const char *image) {
        g_autofree char *now = local_find(image, NULL);

        for (guint i = 0; now && i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];
                bool has_image = g_strcmp0(container->args->image, image) == 0 && update_runs(container);
                g_autofree char *running = has_image ? update_find_image(container) : NULL;

                if (running && !g_str_equal(running, now))
                        log_notice("%s runs an image that '%s' no longer is: restart it before 'podman image prune' "
                                   "takes its files away",
                                   container->unit, image);
        }
}

/* Kept over a power cut, as the notes are that are written later, into a file beside it. */
static bool mark_updating(GError **error) {
        _cleanup_close_ int fd = open(PATH_UPDATING, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600),
                            directory = open(PATH_IMAGES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return (fd >= 0 && directory >= 0 && fsync(fd) == 0 && fsync(directory) == 0) ||
               error_set_errno(error, errno, "Cannot make '%s'", PATH_UPDATING);
}

/* Instances that are not loaded, and what a file that is refused asks for, are not to be seen. */
static bool has_all(const GPtrArray *containers) {
        for (guint i = 0; i < containers->len; i++) {
                const ContainerUnit *container = containers->pdata[i];

                if (container->is_refused && (container->is_masked || container->source[0])) /* else it was deleted */
                        return false;
        }
        return !generated_units_have_template(AUTO_UPDATE_LABEL "=");
}

/* While systemd calls its generators there seem to be fewer containers. It answers after that, and then they are
 * looked for. */
static void forget_others(void) {
        BootTimes answer;
        g_autoptr(GPtrArray) all = boot_times_read(&answer, NULL) ? container_units_find(NULL, NULL) : NULL;
        g_autoptr(GPtrArray) members = all ? find_members(all, NULL) : NULL;
        g_autoptr(GHashTable) paths = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

        if (!all || !has_all(all))
                return;
        for (guint i = 0; i < members->len; i++) {
                const UpdateMember *member = members->pdata[i];
                g_autofree char *name = update_find_name(member->container->args->image,
                                                         !g_str_equal(member->policy, "local"), NULL);

                if (!name)
                        return;
                g_hash_table_add(paths, image_path(PATH_IMAGES, name));
        }
        image_notes_forget_others(paths);
}

/* 1 where a container has not the new image that there is. */
int command_update(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *only = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(GPtrArray) members = NULL;
        _cleanup_close_ int lock = -1; /* one update at a time */

        if ((words[0] && !only) || !tool_prepare(error) || (lock = image_lock("keyturnctl update", error)) < 0)
                return -1;
        members = find_members(all, only);
        if (only && members->len == 0)
                return error_negative(error, KT_ERROR_USAGE, "%s has no AutoUpdate=", only->unit);
        if (!options->dry_run && !mark_updating(error))
                return -1;
        for (guint i = 0; i < members->len; i++) {
                const UpdateMember *member = members->pdata[i];

                if (member->updated)
                        continue;
                update_image(member->container->args->image, members, options, only);
                if (!options->dry_run)
                        tell_who_runs_another(all, member->container->args->image);
        }
        if (!options->dry_run && !only && image_notes_any_lead_back())
                forget_others();
        if (!options->dry_run && !image_notes_any_lead_back())
                (void) unlink(PATH_UPDATING);
        return print(members, options->json);
}
