/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/image/copy.h"
#include "libstart/image/local.h"
#include "libstart/image/notes.h"
#include "libstart/image/pull.h"
#include "libstart/image/tool.h"
#include "libstart/image/unsynced.h"
#include "libstart/store/artifact.h"
#include "libstart/store/manifest.h"
#include "libstart/store/reference.h"
#include "libstart/value/go-duration.h"

static bool needs_network(const char *name) {
        return !g_str_has_prefix(name, "localhost:") && !g_str_has_prefix(name, "localhost/") &&
               !g_str_has_prefix(name, "127.");
}

/* Asked for only now, when there is something to be done: no boot whose images are there waits for it. Bounded, as a
 * container that the network waits for would else never start. */
static void wait_for_network(void) {
        g_autoptr(GPtrArray) words = tool_words("timeout", "90", "systemctl", "start", "network-online.target", NULL);
        g_autoptr(GError) error = NULL;

        if (user_view_is_entered()) /* a user's manager knows of no network, and tries again */
                return;
        if (!tool_run(words, "Waiting for the network", /* has_deadline= */ true, &error))
                log_warning("network-online.target is not reached, trying without: %s", error->message);
}

bool pull_is_by_podman(const PullRequest *request) {
        return pull_needs_podman(request) || !tool_is_there("skopeo");
}

static bool try_once(const PullRequest *request, const char *name, GError **error) {
        bool podman = pull_is_by_podman(request);
        g_autoptr(GPtrArray) words = podman ? pull_words_podman(request, name) : pull_words_skopeo(request, name);
        g_autofree char *what = g_strconcat("Pulling ", name, NULL);

        if (podman && !tool_is_there("podman"))
                return error_set(error, KT_ERROR_FAILED,
                                 pull_needs_podman(request) ?
                                         "this way to pull needs podman, which is not installed" :
                                         "neither skopeo nor podman is installed: install one of them");
        return copy_run(words, podman, name, what, error); /* with the lock of the name */
}

static bool pull_name(const PullRequest *request, const char *name, GError **error) {
        int retries = request->retry < 0 ? PULL_RETRY_DEFAULT : request->retry;
        const char *what = request->artifacts ? "Artifact" : "Image";
        guint64 delay = G_USEC_PER_SEC;

        if (request->retry_delay && !go_duration_parse(request->retry_delay, &delay, error))
                return false;
        if (!reference_is_archive(request->reference) && !request->offline && needs_network(name))
                wait_for_network();
        for (int i = 0;; i++) {
                g_autoptr(GError) problem = NULL;

                if (try_once(request, name, &problem))
                        return true;
                if (i == retries) {
                        g_propagate_prefixed_error(error, g_steal_pointer(&problem),
                                                   "%s '%s' cannot be pulled: ", what, name);
                        return false;
                }
                log_warning("%s '%s', trying again: %s", what, name, problem->message);
                g_usleep(delay);
                if (!request->retry_delay)
                        delay *= 2;
        }
}

/* What is on its way, and what there was before. */
typedef struct Coming {
        Unsynced unsynced;
        const char *name; /* in the store */
        char *before;     /* the image that had it, or NULL */
        char *list;       /* see local_list() */
} Coming;

static void coming_clear(Coming *coming) {
        unsynced_clear(&coming->unsynced);
        g_free(coming->before);
        g_free(coming->list);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Coming, coming_clear)

/* mark: of what is asked for. */
static bool begin_coming(Coming *coming, const char *mark, const char *name, GError **error) {
        *coming = (Coming) { .unsynced = UNSYNCED_NULL, .name = name };
        coming->before = local_find(name, NULL);
        coming->list = local_list();
        return unsynced_begin(mark, &coming->unsynced, error);
}

/* What the disk has not taken is in memory only. whole: it has no layers of before a power cut. */
static bool end_coming(Coming *coming, bool has_come, bool whole, GError **error) {
        g_autoptr(GError) problem = NULL;
        bool is_back;

        if (unsynced_end(&coming->unsynced, has_come, whole, &problem))
                return has_come;
        if (!has_come) {
                log_warning("%s", problem->message);
                return false;
        }
        is_back = local_take_back(coming->name, coming->before, coming->list);
        g_propagate_prefixed_error(
                error, g_steal_pointer(&problem),
                is_back ? "'%s' has come, and does not stay: " : "'%s' has come, and may be damaged: ", coming->name);
        return false;
}

/* Whether the name is free of what came before a power cut. An image that had the name stays, as it may be all that
 * there is; unless it was of no use before the pull, and is of none after it. */
static bool take_back_cut(const Coming *coming) {
        bool is_lost = !coming->before && local_is_of_no_use(coming->name);

        return local_take_back(coming->name, coming->before, is_lost ? NULL : coming->list);
}

/* What had come of it before a power cut is in the store, with files that may be empty, and is taken as it is. With
 * the image goes what no other one has; then that comes, too. Two that share a layer do so one after the other. */
static bool pull_after_cut(const PullRequest *request, const char *name, Coming *coming, bool *ret_whole,
                           GError **error) {
        _cleanup_close_ int lock = image_lock("cut", error);

        if (lock < 0 || !pull_name(request, name, error))
                return false;
        *ret_whole = take_back_cut(coming);
        if (*ret_whole)
                log_notice("Image '%s' had come in part before a power cut: it is pulled without that", coming->name);
        else
                unsynced_tell();
        return pull_name(request, name, error);
}

/* Whether there were any. */
static bool remove_torn_files(const PullRequest *request, const char *name) {
        g_autoptr(GPtrArray) artifact = NULL;
        bool found = false;

        (void) store_artifact_read(request->artifacts, name, &artifact, NULL);
        for (guint i = 0; artifact && i < artifact->len; i++) {
                const ArtifactBlob *blob = artifact->pdata[i];

                found |= !artifact_blob_is_whole(blob) && unlink(blob->path) == 0;
        }
        return found;
}

/* The tools take a file that is there, whatever is in it. The manifest, which says how large each is, is written
 * anew. */
static bool pull_artifact(const PullRequest *request, const char *name, GError **error) {
        if (!pull_name(request, name, error))
                return false;
        if (!remove_torn_files(request, name))
                return true;
        log_notice("Artifact '%s' had come in part before: what is torn of it is pulled again", name);
        return pull_name(request, name, error);
}

bool image_pull_name(const PullRequest *request, const char *name, GError **error) {
        g_auto(Coming) coming = { .unsynced = UNSYNCED_NULL };
        bool whole = true, ok;

        if (!begin_coming(&coming, name, request->tag ?: name, error))
                return false;
        ok = request->artifacts      ? pull_artifact(request, name, error) :
             coming.unsynced.was_cut ? pull_after_cut(request, name, &coming, &whole, error) :
                                       pull_name(request, name, error);
        return end_coming(&coming, ok, whole, error);
}

char *image_remote_digest(const PullRequest *request, const char *name, GError **error) {
        g_autoptr(GPtrArray) words = inspect_words(request, name);
        g_autofree char *manifest = NULL;

        if (!tool_is_there("skopeo"))
                return error_null(error, KT_ERROR_FAILED, "skopeo is not installed, which looks what a registry has");
        manifest = tool_read(words, error);
        return manifest ? digest_compute(manifest, strlen(manifest)) : NULL;
}

/* Only where there is another to run in its place. What cannot be told may be the image that did not work. */
static bool is_rejected(const PullRequest *request, const char *name, int lock) {
        g_auto(ImageNotes) notes = { 0 };
        g_autofree char *digest = NULL;
        g_autoptr(GError) error = NULL;

        if (reference_is_archive(request->reference) || (image_notes_read(lock, &notes, &error) && !notes.rejected))
                return false;
        if (notes.rejected && !request->offline && needs_network(name))
                wait_for_network();
        digest = notes.rejected ? image_remote_digest(request, name, &error) : NULL;
        if (digest && !g_str_equal(digest, notes.rejected))
                return false;
        if (digest)
                log_notice("Image '%s': what the registry has did not work, and is not pulled again; "
                           "'keyturnctl update UNIT' tries it once more",
                           name);
        else
                log_warning("Image '%s': it is not pulled, as the registry may have what did not work: %s", name,
                            error->message);
        return true;
}

static bool is_policy(const PullRequest *request, const char *policy) {
        return g_strcmp0(request->policy, policy) == 0;
}

/* One that is damaged is pulled, and one that cannot be read for a moment is not: so it is looked for twice. */
static char *find_there(const char *name) {
        g_autoptr(GError) error = NULL;
        char *found = local_find(name, &error);

        return error ? local_find(name, NULL) : found;
}

static bool pull_missing(const PullRequest *request, const char *name, int lock, GError **error) {
        g_autofree char *there = find_there(request->tag ?: name);
        g_autoptr(GError) problem = NULL;

        if (there && is_policy(request, "missing") && !request->all_tags) {
                log_info("Image '%s' is there", request->tag ?: name);
                return true;
        }
        if (there && is_rejected(request, name, lock))
                return true;
        if (image_pull_name(request, name, &problem))
                return true;
        if (there && is_policy(request, "newer")) {
                log_warning("The one that is there is used. %s", problem->message);
                return true;
        }
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

/* A name without a registry may be that of an image that is there: then no registry has to be known. */
static bool is_there(const PullRequest *request) {
        g_autofree char *id = is_policy(request, "missing") && !request->all_tags ?
                                      local_find(request->tag ?: request->reference, NULL) :
                                      NULL;

        return id;
}

/* Transfer full. */
static char *find_name(const PullRequest *request, GError **error) {
        g_autoptr(ShortNames) names = NULL;

        if (reference_is_archive(request->reference))
                return g_strdup(request->reference);
        names = short_names_load("", error);
        return names ? pull_find_name(request->reference, names, error) : NULL;
}

bool image_pull(const PullRequest *request, GError **error) {
        g_autofree char *name = NULL;
        _cleanup_close_ int lock = -1;
        bool there;

        if (is_policy(request, "never"))
                return true;
        there = is_there(request);
        name = find_name(request, there ? NULL : error);
        if (there && name)
                unsynced_settle(name);
        if (there)
                return true;
        lock = name ? image_lock(name, error) : -1;
        return lock >= 0 && pull_missing(request, name, lock, error);
}

static bool build(const char *tag, GPtrArray *words, GError **error) {
        g_autofree char *what = g_strconcat("Building ", tag, NULL);
        g_auto(Coming) coming = { .unsynced = UNSYNCED_NULL };
        bool ok;

        if (!begin_coming(&coming, tag, tag, error))
                return false;
        /* A compiler's work is not seen: its unit has a time-out. */
        ok = tool_run(words, what, /* has_deadline= */ false, error);
        return end_coming(&coming, ok, /* whole= */ true, error);
}

bool image_build(const char *tag, char *const *global_args, char *const *args, bool offline, GError **error) {
        const char *program = global_args || tool_is_there("podman") ? "podman" : "buildah";
        g_autoptr(GPtrArray) words = build_words(program, global_args, !unsynced_was_cut(tag), args);
        g_autofree char *there = local_find(tag, NULL);

        if (there) {
                log_info("Image '%s' is there", tag);
                unsynced_settle(tag);
                return true;
        }
        if (!tool_is_there(program))
                return error_set(error, KT_ERROR_FAILED,
                                 global_args ? "options of podman need podman, which is not installed" :
                                               "neither podman nor buildah is installed: install one of them");
        if (!offline)
                wait_for_network();
        if (build(tag, words, error))
                return true;
        return error_prefix(error, "Image '%s' cannot be built: ", tag);
}
