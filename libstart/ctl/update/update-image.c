/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/update/update-image.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/ctl/update/update-unit.h"
#include "libstart/image/copy.h"
#include "libstart/image/local.h"
#include "libstart/image/notes.h"
#include "libstart/image/pull.h"
#include "libstart/image/unsynced.h"
#include "libstart/request/auto-update.h"

/* Containers with the same image. */
typedef struct Group {
        PullRequest request; /* its reference is the image */
        char *name;          /* the same with registry and tag */
        GPtrArray *members;  /* of UpdateMember, borrowed */
        bool is_of_registry; /* else only what is here already counts */
        bool is_asked_for;   /* by its name: then what was rolled back is tried again */
        bool resumes;        /* an interrupted update */
        gint64 since;        /* then: no start before it was one with the new image; microseconds since 1970 */
        int lock;
        ImageNotes notes;
        char *old, *new; /* ids */
        char *digest;    /* of what the registry has, if it is another; or NULL */
        bool is_pulled;
} Group;

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

static void say(Group *group, const char *updated, const char *problem) {
        for (guint i = 0; i < group->members->len; i++) {
                UpdateMember *member = group->members->pdata[i];

                member->updated = updated;
                g_free(member->problem);
                member->problem = g_strdup(problem);
        }
}

/* No registry is asked for a name that has none, or for which registries.conf names none: skopeo would ask docker.io.
 */
char *update_find_name(const char *image, bool is_of_registry, GError **error) {
        g_autoptr(ShortNames) names = short_names_load("", error);
        char *name = names ? pull_find_name(image, names, is_of_registry ? error : NULL) : NULL;

        return name || !names || is_of_registry ? name : g_strdup(image); /* it may be one that is only here */
}

static bool find_name(Group *group, GError **error) {
        group->name = update_find_name(group->request.reference, group->is_of_registry, error);
        group->lock = group->name ? image_lock(group->name, error) : -1;
        return group->lock >= 0 && image_notes_read(group->lock, &group->notes, error);
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
static bool note(Group *group, const char *rejected, const char *previous, const char *bad, GError **error) {
        ImageNotes notes = {
                .rejected = g_strdup(rejected),
                .previous = g_strdup(previous),
                .bad = g_strdup(bad),
                .since = bad ? group->notes.since : g_get_real_time(),
                .keep = previous && !group->is_pulled,
                .known = rejected && previous && !bad && g_strcmp0(rejected, group->notes.rejected) == 0,
        };

        image_notes_clear(&group->notes);
        group->notes = notes;
        return image_notes_write(group->lock, &notes, error);
}

static bool pull(Group *group, GError **error) {
        g_autofree char *rejected = g_strdup(group->notes.rejected);

        if (!group->digest)
                return true;
        group->is_pulled = true;
        if (!note(group, group->digest, group->old, /* bad= */ NULL, error))
                return false;
        if (image_pull_name(&group->request, group->name, error))
                return true;
        (void) note(group, rejected, /* previous= */ NULL, /* bad= */ NULL, NULL);
        return false;
}

/* Those that do not run this image, by its id. otherwise: the image to assume where it is not known. Borrowed
 * containers; transfer container. */
static GPtrArray *find_others(const Group *group, const char *image, const char *otherwise) {
        GPtrArray *others = g_ptr_array_new();

        for (guint i = 0; i < group->members->len; i++) {
                const UpdateMember *member = group->members->pdata[i];

                if (g_strcmp0(member->running ?: otherwise, image) != 0)
                        g_ptr_array_add(others, member->container);
        }
        return others;
}

static bool restart(const GPtrArray *containers, GError **error) {
        for (guint i = 0; i < containers->len; i++)
                if (!update_restart(containers->pdata[i], error))
                        return false;
        return true;
}

/* All of them, whatever fails. The error is the first one, or that nothing was tried: then all is tried once more. */
static bool restart_all(const GPtrArray *containers, GError **error) {
        for (guint i = 0; i < containers->len; i++) {
                g_autoptr(GError) problem = NULL;

                if (update_restart(containers->pdata[i], &problem))
                        continue;
                if (g_error_matches(problem, KT_ERROR, KT_ERROR_UNTRIED))
                        g_clear_error(error);
                if (!*error)
                        *error = g_steal_pointer(&problem);
        }
        return !*error;
}

/* The image that the containers had: also where its name was taken away before (policy local). */
static const char *find_previous(const Group *group) {
        for (guint i = 0; i < group->members->len; i++) {
                const UpdateMember *member = group->members->pdata[i];

                if (member->running && g_strcmp0(member->running, group->new) != 0)
                        return member->running;
        }
        return group->notes.previous ?: group->old;
}

/* previous, bad: NULL where it is over. What does not work stays rejected, which it is from the beginning. */
static void note_verdict(Group *group, bool works, const char *previous, const char *bad) {
        g_autoptr(GError) error = NULL;

        group->lock = image_lock(group->name, &error);
        if (group->lock < 0 ||
            !note(group, works && group->is_pulled ? NULL : group->notes.rejected, previous, bad, &error))
                log_warning("%s", error->message);
        fd_close(&group->lock);
}

/* The old image has its name again, or has gone: then no other try would change anything, and the registry may have
 * a better one. */
static bool is_final(const char *previous, bool is_tagged, const GError *error) {
        g_autoptr(GError) problem = NULL;
        g_autofree char *id = NULL;

        if (g_error_matches(error, KT_ERROR, KT_ERROR_UNTRIED))
                return false;
        id = is_tagged || !previous ? NULL : local_find(previous, &problem);
        return !id && !problem;
}

/* Who could not be restarted may. */
static bool is_used(const GPtrArray *containers, const char *image) {
        for (guint i = 0; i < containers->len; i++) {
                g_autofree char *used = update_find_image(containers->pdata[i]);

                if (g_strcmp0(used, image) == 0)
                        return true;
        }
        return false;
}

/* is_unused: what did not work has no name any more, and nobody runs it. The way back is forgotten when it was gone:
 * all of it is on the disk before. */
static void end_rollback(Group *group, bool is_unused) {
        g_autoptr(GError) error = NULL;
        bool is_removed = group->is_pulled && is_unused && local_remove(group->new, &error);

        if (error)
                log_warning("The image that does not work stays in the store: %s", error->message);
        g_clear_error(&error);
        if (is_removed && group->resumes ? unsynced_forget(group->name, &error) : unsynced_write_store(&error))
                note_verdict(group, false, /* previous= */ NULL, /* bad= */ NULL);
        else
                log_warning("The next update rolls '%s' back once more: %s", group->name, error->message);
}

/* All of it is tried, whatever fails. The verdict is written first: once the name is given back, an update after an
 * interruption could not tell the old image from a new one that has not come yet. */
static void roll_back(Group *group, const GPtrArray *containers, const char *reason) {
        g_autofree char *previous = g_strdup(find_previous(group)), *problem = NULL;
        g_autoptr(GError) error = NULL;
        bool is_tagged, works;

        log_warning("Image '%s' does not work, rolling back: %s", group->name, reason);
        note_verdict(group, false, previous, group->new);
        is_tagged = previous && local_tag(previous, group->name, group->is_pulled ? group->new : NULL, &error);
        works = is_tagged && restart_all(containers, &error) && update_await(containers, 0, &error);
        if (!works)
                problem = g_strdup_printf("%s; and the rollback has failed: %s", reason,
                                          error ? error->message : "the old image is not known");
        say(group, works ? "rolled back" : "failed", problem ?: reason);
        if (works || is_final(previous, is_tagged, error))
                end_rollback(group, is_tagged && !is_used(containers, group->new));
}

/* outdated: those that have still to be restarted. */
static void prove(Group *group, const GPtrArray *outdated, const GPtrArray *containers, const Options *options) {
        g_autoptr(GError) error = NULL;

        if (!restart(outdated, &error) || !update_await(containers, options->watch, &error)) {
                if (g_error_matches(error, KT_ERROR, KT_ERROR_UNTRIED))
                        say(group, "failed", error->message); /* the next update goes on */
                else
                        roll_back(group, containers, error->message);
                return;
        }
        note_verdict(group, true, /* previous= */ NULL, /* bad= */ NULL);
        say(group, "true", NULL);
}

/* One that was stopped, or has not been started yet, says nothing of an image; one that has ended by itself does. */
static bool is_concerned(const Group *group, const UpdateMember *member) {
        const ContainerUnit *container = member->container;

        if (update_runs(container))
                return true;
        if (!group->resumes || g_str_equal(container->active, "active")) /* a oneshot's RemainAfterExit= */
                return false;
        return !g_str_equal(container->active, "inactive") || update_was_restarting(container) ||
               update_has_ended(container, group->since);
}

/* Leaves those that an update concerns, and says it of the others. */
static void leave_out_stopped(Group *group) {
        for (guint i = group->members->len; i > 0; i--) {
                UpdateMember *member = group->members->pdata[i - 1];

                if (is_concerned(group, member))
                        continue;
                member->problem = g_strdup(
                        group->resumes ? "it does not run, so it does not show whether its new image works" :
                                         "it does not run");
                g_ptr_array_remove_index(group->members, i - 1);
        }
}

/* An image that did not work was being taken back: the name has it still, or not any more. */
static bool is_going_back(const Group *group) {
        const ImageNotes *notes = &group->notes;

        return notes->bad && (g_strcmp0(group->old, notes->bad) == 0 || g_strcmp0(group->old, notes->previous) == 0);
}

static void go_back(Group *group) {
        g_autoptr(GPtrArray) containers = find_others(group, group->notes.previous, NULL);

        group->is_pulled = !group->notes.keep;
        group->new = g_strdup(group->notes.bad);
        fd_close(&group->lock);
        roll_back(group, containers, "its rollback was interrupted");
}

/* Has the new image on the disk, and known as what has come. It may not be whole, or not be there: then it may work,
 * and it is not the registry's that does not. Returns what is wrong; NULL: nothing. Transfer full. */
static char *settle_arrival(Group *group) {
        g_autoptr(GError) error = NULL;
        char *harm = NULL;

        if (unsynced_was_cut(group->name))
                harm = g_strdup("the machine went off while it came, so it may not be whole");
        else if (!unsynced_forget(group->name, &error))
                harm = g_strdup(error->message);
        if (harm && !group->notes.known)
                g_clear_pointer(&group->notes.rejected, g_free);
        return harm;
}

/* By now a container may run the new image, have failed with it, or have ended. One that was started with it, at boot
 * perhaps, is only watched. */
static void resume(Group *group, const Options *options) {
        g_autoptr(GPtrArray) containers = g_ptr_array_new(), old = find_others(group, group->old, NULL);
        g_autofree char *reason = settle_arrival(group);

        log_notice("An update of '%s' was interrupted: seeing whether the new image works", group->name);
        group->is_pulled = !group->notes.keep;
        group->new = g_strdup(group->old);
        for (guint i = 0; i < group->members->len; i++) {
                ContainerUnit *container = ((const UpdateMember *) group->members->pdata[i])->container;

                container->restarts = 0; /* with its first start by systemd it has shown that it does not work */
                g_ptr_array_add(containers, container);
                if (g_str_equal(container->active, "inactive") && !update_was_restarting(container) && !reason) {
                        g_autofree char *logs = container_unit_print_logs(container);

                        reason = g_strdup_printf("%s has ended; see %s", container->unit, logs);
                }
        }
        fd_close(&group->lock);
        if (reason)
                roll_back(group, containers, reason);
        else
                prove(group, old, containers, options);
}

static bool is_interrupted(const Group *group) {
        return group->notes.previous && group->old &&
               (is_going_back(group) || !g_str_equal(group->notes.previous, group->old));
}

/* Interrupted before the new image had the name: nothing is known of that image that was not before. */
static bool forget_begun(Group *group, const Options *options, GError **error) {
        return !group->notes.previous || options->dry_run ||
               note(group, group->notes.known ? group->notes.rejected : NULL, /* previous= */ NULL, /* bad= */ NULL,
                    error);
}

/* Of an image that the update has not pulled, as that did else. */
static bool note_way_back(Group *group, GError **error) {
        bool ok;

        if (group->is_pulled)
                return true;
        group->lock = image_lock(group->name, error);
        ok = group->lock >= 0 && note(group, group->notes.rejected, find_previous(group), /* bad= */ NULL, error);
        fd_close(&group->lock);
        return ok;
}

static void update_running(Group *group, const Options *options) {
        g_autoptr(GPtrArray) outdated = NULL;
        g_autoptr(GError) error = NULL;

        if ((group->is_of_registry && !look(group, &error)) || (!options->dry_run && !pull(group, &error))) {
                say(group, "failed", error->message);
                return;
        }
        fd_close(&group->lock); /* a start may pull by itself (Pull=always) */
        group->new = options->dry_run && group->digest ? g_strdup("") : local_find(group->request.reference, &error);
        if (!group->new) {
                say(group, "failed", error ? error->message : "the image is not in the store");
                return;
        }
        outdated = find_others(group, group->new, group->old);
        if (outdated->len > 0 && options->dry_run)
                say(group, "pending", NULL);
        else if (outdated->len > 0 && !note_way_back(group, &error))
                say(group, "failed", error->message);
        else if (outdated->len > 0)
                prove(group, outdated, outdated, options);
        else if (group->is_pulled)
                note_verdict(group, true, /* previous= */ NULL, /* bad= */ NULL); /* another digest of the image */
}

/* Of an update that a power cut has interrupted nobody may be able to read the image. It goes back even so. */
static bool find_old(Group *group, GError **error) {
        g_autoptr(GError) problem = NULL;

        group->old = local_find(group->request.reference, &problem);
        if (problem && group->notes.previous)
                group->old = local_find_listed(group->name);
        if (group->old || !problem)
                return true;
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

static void update_group(Group *group, const Options *options) {
        g_autoptr(GError) error = NULL;
        bool is_known, is_begun;

        say(group, "false", NULL);
        is_known = find_name(group, &error) && find_old(group, &error);
        is_begun = group->notes.previous && !options->dry_run;
        group->resumes = is_begun && is_interrupted(group);
        if (is_begun && is_known) { /* first, as nobody looks for it without the notes */
                copy_forget(group->name);
                local_forget(group->name);
        }
        if (!is_known || (!group->resumes && !forget_begun(group, options, &error))) {
                say(group, "failed", error->message);
                return;
        }
        if (!group->resumes && options->resume)
                return;
        /* At boot all starts count: the clock may have been wrong at one of them. */
        group->since = group->resumes && !options->resume ? group->notes.since : 0;
        leave_out_stopped(group);
        if (group->resumes && is_going_back(group))
                go_back(group);
        else if (group->members->len > 0 && group->resumes)
                resume(group, options);
        else if (group->members->len > 0)
                update_running(group, options);
}

void update_image(const char *image, GPtrArray *members, const Options *options, bool is_asked_for) {
        g_auto(Group) group = { .members = g_ptr_array_new(),
                                .lock = -1,
                                .is_asked_for = is_asked_for,
                                .request = { .reference = (char *) image, .retry = 1 } };

        for (guint i = 0; i < members->len; i++) {
                UpdateMember *member = members->pdata[i];

                if (member->updated || !g_str_equal(member->container->args->image, image))
                        continue;
                g_ptr_array_add(group.members, member);
                group.is_of_registry |= !g_str_equal(member->policy, "local");
                group.request.authfile = group.request.authfile ?:
                                                 (char *) launch_args_last(member->container->args->labels,
                                                                           AUTO_UPDATE_LABEL ".authfile");
        }
        update_group(&group, options);
}
