/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/payload.h"
#include "libstart/ctl/table.h"
#include "libstart/ctl/update-unit.h"
#include "libstart/image/local.h"
#include "libstart/image/lock.h"
#include "libstart/image/pull.h"
#include "libstart/oci/spec.h"
#include "libstart/option/auto-update.h"

/*
 * New images for containers that run, for AutoUpdate=. Containers with the same image are updated together, as the name can be that
 * of one image only:
 *
 *   look       which digest has the registry? Whatever fails up to here has changed nothing.
 *   pull       the new image takes over the name, when all of it is there; the old one stays in the store without a name
 *   restart    each container, and wait until it works
 *   roll back  where one does not: the old image gets its name back, all are started with it, the new image is removed, and
 *              its digest written down, so that it is not tried again by itself (libstart/image/lock.h)
 *
 * A container that does not run is left alone. But who updates writes down which image was there before. Where that is found
 * written down, an update was interrupted (a power cut, a signal), and the next one first sees whether the new image works. At
 * boot that is keyturn-update-resume.service, for which there is a file as long as something is written down. Where no
 * container says anything of the new image, because none has run since, it stays written down.
 */

typedef struct Member {
        const ContainerUnit *container;
        const char *policy;  /* "registry", "image" (the same) or "local" */
        char *running;       /* id of the image that it runs, or NULL */
        const char *updated; /* in Podman's words */
        char *problem;
} Member;

/* Containers with the same image. */
typedef struct Group {
        const char *image;
        char *name; /* the same with registry and tag */
        PullRequest request;
        GPtrArray *members; /* of Member, borrowed */
        bool is_asked_for;  /* by its name: then what was rolled back is tried again */
        bool resumes;       /* an interrupted update */
        gint64 since;       /* then: no start before it was one with the new image; microseconds since 1970 */
        int lock;
        ImageNotes notes;
        char *old, *new; /* ids */
        char *digest;    /* of what the registry has, if it is another; or NULL */
        bool is_pulled;
} Group;

static void member_free(void *data) {
        Member *member = data;

        g_free(member->running);
        g_free(member->problem);
        g_free(member);
}

static void group_clear(Group *group) {
        g_free(group->name);
        g_ptr_array_unref(group->members);
        fd_closep(&group->lock);
        image_notes_clear(&group->notes);
        g_free(group->old);
        g_free(group->new);
        g_free(group->digest);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Group, group_clear)

static bool is_of_registry(const Member *member) {
        return !g_str_equal(member->policy, "local");
}

/* Transfer full. */
static char *find_running(const ContainerUnit *container) {
        libcrun_container_t *config = payload_read_config(container, NULL);
        char *id = config ? g_strdup(payload_find_annotation(config, SPEC_IMAGE_ID)) : NULL;

        if (config)
                libcrun_container_free(config);
        return id;
}

static bool runs(const ContainerUnit *container) {
        return g_str_equal(container->active, "active") && container->pid > 0;
}

/* Of all that have the key; of one, if it is asked for. */
static GPtrArray *find_members(const GPtrArray *all, const ContainerUnit *only) {
        GPtrArray *members = g_ptr_array_new_with_free_func(member_free);

        for (guint i = 0; i < all->len; i++) {
                const ContainerUnit *container = all->pdata[i];
                const char *policy = auto_update_find(container->args->labels);
                Member *member;

                if (!policy || (only && container != only))
                        continue;
                member = g_new0(Member, 1);
                member->container = container;
                member->policy = policy;
                member->running = runs(container) ? find_running(container) : NULL;
                g_ptr_array_add(members, member);
        }
        return members;
}

static void say(Group *group, const char *updated, const char *problem) {
        for (guint i = 0; i < group->members->len; i++) {
                Member *member = group->members->pdata[i];

                member->updated = updated;
                g_free(member->problem);
                member->problem = g_strdup(problem);
        }
}

static bool find_name(Group *group, GError **error) {
        g_autoptr(ShortNames) names = short_names_load("", error);

        if (!names)
                return false;
        group->name = pull_find_name(group->image, names, NULL);
        if (!group->name) /* it may be one that is only here */
                group->name = g_strdup(group->image);
        group->lock = image_lock(group->name, error);
        if (group->lock < 0)
                return false;
        image_notes_read(group->lock, &group->notes);
        return true;
}

/* Sets group->digest where the registry has another image. */
static bool look(Group *group, GError **error) {
        g_autofree char *digest = image_remote_digest(&group->request, group->name, error);

        if (!digest)
                return false;
        if (local_has_digest(group->name, digest, group->old))
                return true;
        if (g_strcmp0(group->notes.rejected, digest) == 0 && !group->is_asked_for)
                say(group, "false", "what the registry has did not work, and was rolled back");
        else
                group->digest = g_steal_pointer(&digest);
        return true;
}

/* With the lock of the name. */
static bool note(Group *group, const char *rejected, const char *previous, GError **error) {
        ImageNotes notes = { .rejected = g_strdup(rejected), .previous = g_strdup(previous) };

        image_notes_clear(&group->notes);
        group->notes = notes;
        return image_notes_write(group->lock, &notes, error);
}

static bool pull(Group *group, GError **error) {
        if (!group->digest)
                return true;
        group->is_pulled = true;
        if (!note(group, group->digest, group->old, error))
                return false;
        if (image_pull_name(&group->request, group->name, error))
                return true;
        (void) note(group, /* rejected= */ NULL, /* previous= */ NULL, NULL);
        return false;
}

/* Those that do not run what the name means by now. Borrowed containers; transfer container. */
static GPtrArray *find_outdated(const Group *group) {
        GPtrArray *outdated = g_ptr_array_new();

        for (guint i = 0; i < group->members->len; i++) {
                const Member *member = group->members->pdata[i];

                if (g_strcmp0(member->running ?: group->old, group->new) != 0)
                        g_ptr_array_add(outdated, (void *) member->container);
        }
        return outdated;
}

static bool restart(const GPtrArray *containers, GError **error) {
        for (guint i = 0; i < containers->len; i++)
                if (!update_restart(containers->pdata[i], error))
                        return false;
        return true;
}

/* The image that the containers had: also where its name was taken away before (policy local). */
static const char *find_previous(const Group *group) {
        for (guint i = 0; i < group->members->len; i++) {
                const Member *member = group->members->pdata[i];

                if (member->running && g_strcmp0(member->running, group->new) != 0)
                        return member->running;
        }
        return group->notes.previous ?: group->old;
}

/* It is over. What does not work stays rejected, which it is from the beginning. */
static void conclude(Group *group, bool works) {
        g_autofree char *rejected = works ? NULL : g_strdup(group->notes.rejected);
        g_autoptr(GError) error = NULL;

        if (!group->is_pulled)
                return;
        group->lock = image_lock(group->name, &error);
        if (group->lock < 0 || !note(group, rejected, /* previous= */ NULL, &error))
                log_warning("%s", error->message);
        fd_close(&group->lock);
}

/* All of it is tried, whatever fails. */
static void roll_back(Group *group, const GPtrArray *containers, const char *reason) {
        const char *previous = find_previous(group);
        g_autofree char *problem = NULL;
        g_autoptr(GError) error = NULL;

        log_warning("Image '%s' does not work, rolling back: %s", group->name, reason);
        if (!previous || !local_tag(previous, group->name, group->is_pulled ? group->new : NULL, &error) ||
            !restart(containers, &error) || !update_await(containers, 0, &error)) {
                problem = g_strdup_printf("%s; and the rollback has failed: %s", reason,
                                          error ? error->message : "the old image is not known");
                say(group, "failed", problem);
                return;
        }
        if (group->is_pulled && !local_remove(group->new, &error))
                log_warning("The image that does not work stays in the store: %s", error->message);
        conclude(group, false);
        say(group, "rolled back", reason);
}

/* outdated: those that have still to be restarted. */
static void prove(Group *group, const GPtrArray *outdated, const GPtrArray *containers, const Options *options) {
        g_autoptr(GError) error = NULL;

        if (!restart(outdated, &error) || !update_await(containers, options->watch, &error)) {
                roll_back(group, containers, error->message);
                return;
        }
        conclude(group, true);
        say(group, "true", NULL);
}

/* One that was stopped, or has not been started yet, says nothing of an image; one that has ended by itself does. */
static bool is_concerned(const Group *group, const Member *member) {
        const ContainerUnit *container = member->container;

        if (runs(container))
                return true;
        if (!group->resumes || g_str_equal(container->active, "active")) /* a oneshot's RemainAfterExit= */
                return false;
        return !g_str_equal(container->active, "inactive") || update_has_ended(container, group->since);
}

/* Leaves those that an update concerns, and says it of the others. */
static void leave_out_stopped(Group *group) {
        for (guint i = group->members->len; i > 0; i--) {
                Member *member = group->members->pdata[i - 1];

                if (is_concerned(group, member))
                        continue;
                member->problem = g_strdup(
                        group->resumes ? "it does not run, so it does not show whether its new image works" :
                                         "it does not run");
                g_ptr_array_remove_index(group->members, i - 1);
        }
}

/* By now a container may run the new image, have failed with it, or have ended. One that was started with it, at boot
 * perhaps, is only watched. */
static void resume(Group *group, const Options *options) {
        g_autoptr(GPtrArray) containers = g_ptr_array_new(), old = g_ptr_array_new();
        g_autofree char *reason = NULL;

        log_notice("An update of '%s' was interrupted: seeing whether the new image works", group->name);
        group->is_pulled = true;
        group->new = g_strdup(group->old);
        for (guint i = 0; i < group->members->len; i++) {
                const Member *member = group->members->pdata[i];
                const ContainerUnit *container = member->container;

                g_ptr_array_add(containers, (void *) container);
                if (g_str_equal(container->active, "inactive") && !reason)
                        reason = g_strdup_printf("%s has ended; see journalctl -u %s", container->unit,
                                                 container->unit);
                if (g_strcmp0(member->running, group->new) != 0)
                        g_ptr_array_add(old, (void *) container);
        }
        fd_close(&group->lock);
        if (reason)
                roll_back(group, containers, reason);
        else
                prove(group, old, containers, options);
}

static bool is_interrupted(const Group *group) {
        return group->notes.previous && group->old && !g_str_equal(group->notes.previous, group->old);
}

/* At boot all starts count: the clock may have been wrong at one of them. With the lock of the name. */
static gint64 find_since(const Group *group, const Options *options) {
        struct stat st;

        return options->resume || fstat(group->lock, &st) < 0 ?
                       0 :
                       st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
}

/* Interrupted before the new image had the name: nothing is known of that image. */
static bool forget_begun(Group *group, const Options *options, GError **error) {
        return !group->notes.previous || options->dry_run ||
               note(group, /* rejected= */ NULL, /* previous= */ NULL, error);
}

static void update_running(Group *group, const Options *options, bool is_of_registry) {
        g_autoptr(GPtrArray) outdated = NULL;
        g_autoptr(GError) error = NULL;

        if ((is_of_registry && !look(group, &error)) || (!options->dry_run && !pull(group, &error))) {
                say(group, "failed", error->message);
                return;
        }
        fd_close(&group->lock); /* a start may pull by itself (Pull=always) */
        group->new = options->dry_run && group->digest ? g_strdup("") : local_find(group->image);
        if (!group->new) {
                say(group, "failed", "the image is not in the store");
                return;
        }
        outdated = find_outdated(group);
        if (outdated->len > 0 && options->dry_run)
                say(group, "pending", NULL);
        else if (outdated->len > 0)
                prove(group, outdated, outdated, options);
        else
                conclude(group, true); /* another digest of the same image */
}

static void update_group(Group *group, const Options *options, bool is_of_registry) {
        g_autoptr(GError) error = NULL;
        bool is_known;

        say(group, "false", NULL);
        group->old = local_find(group->image);
        is_known = find_name(group, &error);
        group->resumes = is_known && is_interrupted(group) && !options->dry_run;
        if (!is_known || (!group->resumes && !forget_begun(group, options, &error))) {
                say(group, "failed", error->message);
                return;
        }
        if (!group->resumes && options->resume)
                return;
        group->since = group->resumes ? find_since(group, options) : 0;
        leave_out_stopped(group);
        if (group->members->len > 0 && group->resumes)
                resume(group, options);
        else if (group->members->len > 0)
                update_running(group, options, is_of_registry);
}

static void update_image(const char *image, GPtrArray *members, const Options *options, bool is_asked_for) {
        g_auto(Group) group = { .image = image,
                                .members = g_ptr_array_new(),
                                .lock = -1,
                                .is_asked_for = is_asked_for,
                                .request = { .reference = (char *) image, .retry = 1 } };
        bool is_registry = false;

        for (guint i = 0; i < members->len; i++) {
                Member *member = members->pdata[i];

                if (member->updated || !g_str_equal(member->container->args->image, image))
                        continue;
                g_ptr_array_add(group.members, member);
                is_registry |= is_of_registry(member);
                group.request.authfile = group.request.authfile ?:
                                                 (char *) launch_args_last(member->container->args->labels,
                                                                           AUTO_UPDATE_LABEL ".authfile");
        }
        update_group(&group, options, is_registry);
}

static int print(const GPtrArray *members, bool json) {
        static const char *const columns[] = { "UNIT", "CONTAINER", "IMAGE", "POLICY", "UPDATED", "PROBLEM", NULL };
        g_autoptr(Table) table = table_new(columns);
        int status = 0;

        for (guint i = 0; i < members->len; i++) {
                const Member *member = members->pdata[i];

                table_add(table, g_strdup(member->container->unit), g_strdup(member->container->args->name),
                          g_strdup(member->container->args->image), g_strdup(member->policy),
                          g_strdup(member->updated), g_strdup(member->problem));
                if (g_str_equal(member->updated, "failed") || g_str_equal(member->updated, "rolled back"))
                        status = 1;
        }
        table_print(table, json);
        return status;
}

/* Kept over a power cut, as the notes are that are written later, into a file beside it. */
static bool mark_updating(GError **error) {
        _cleanup_close_ int fd = open(PATH_UPDATING, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600),
                            directory = open(PATH_IMAGES, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        return (fd >= 0 && directory >= 0 && fsync(fd) == 0 && fsync(directory) == 0) ||
               error_set_errno(error, errno, "Cannot make '%s'", PATH_UPDATING);
}

/* 1 where a container has not the new image that there is. */
int command_update(const GPtrArray *all, const Options *options, char **words, GError **error) {
        const ContainerUnit *only = words[0] ? container_units_get(all, words[0], error) : NULL;
        g_autoptr(GPtrArray) members = NULL;
        _cleanup_close_ int lock = -1; /* one update at a time */

        if ((words[0] && !only) || (lock = image_lock("keyturnctl update", error)) < 0)
                return -1;
        members = find_members(all, only);
        if (only && members->len == 0) {
                error_set(error, KT_ERROR_USAGE, "%s has no AutoUpdate=", only->unit);
                return -1;
        }
        if (!options->dry_run && !mark_updating(error))
                return -1;
        for (guint i = 0; i < members->len; i++) {
                const Member *member = members->pdata[i];

                if (!member->updated)
                        update_image(member->container->args->image, members, options, only);
        }
        if (!options->dry_run && !image_notes_lead_back())
                (void) unlink(PATH_UPDATING);
        return print(members, options->json);
}
