/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/image/lock.h"
#include "libstart/image/mend.h"
#include "libstart/image/remote.h"
#include "libstart/image/tool.h"
#include "libstart/image/unsynced.h"
#include "libstart/store/reference.h"

typedef enum StoreState {
        STORE_UNKNOWN, /* with a warning */
        STORE_WHOLE,
        STORE_DAMAGED,
} StoreState;

/* Podman alone compares layers with their digests. It reads all of them, 50 MB in a second and more, so only after a
 * power cut that came within a pull. */
static StoreState look(void) {
        g_autoptr(GPtrArray) words = tool_words("podman", "system", "check", NULL);
        g_autoptr(GError) error = NULL;

        log_notice("The machine went off while an image was brought: seeing whether all images are whole");
        if (tool_run_long(words, "Looking at all images", &error))
                return STORE_WHOLE;
        if (tool_is_there("podman") && strstr(error->message, "damage"))
                return STORE_DAMAGED;
        log_warning(
                "Whether the images are whole is not known, as that takes podman 5.2 or later (%s). If one does not "
                "work, remove it (podman rmi, skopeo delete), and start this service again",
                error->message);
        return STORE_UNKNOWN;
}

/* A damaged image may work for a while, and none does not. */
static bool can_come_again(const PullRequest *request, const char *name, GError **error) {
        g_autofree char *digest = NULL;

        if (!request || reference_is_archive(request->reference))
                return true;
        digest = image_remote_digest(request, name, error);
        return digest;
}

static bool repair(const PullRequest *request, const char *name, GError **error) {
        g_autoptr(GPtrArray) words = tool_words("podman", "system", "check", "--repair", NULL);

        if (image_notes_lead_back())
                return error_set(error, KT_ERROR_FAILED, "an update is to be ended first");
        if (!can_come_again(request, name, error))
                return false;
        log_notice("Images are damaged, and are removed");
        return tool_run_long(words, "Removing damaged images", error);
}

void image_mend(const PullRequest *request, const char *name) {
        g_autoptr(GError) error = NULL;
        _cleanup_close_ int lock = image_lock("podman system check", &error);
        StoreState state;

        if (lock < 0)
                log_warning("%s", error->message);
        if (lock < 0 || !unsynced_was_cut(NULL)) /* another one was quicker */
                return;
        state = look();
        if (state == STORE_DAMAGED && !repair(request, name, &error))
                log_warning("Images are damaged, and used as they are: %s", error->message);
        else if (state != STORE_UNKNOWN || !image_notes_lead_back()) /* whose image was cut is taken back */
                unsynced_forget();
}
