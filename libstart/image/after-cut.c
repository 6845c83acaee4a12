/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/fd.h"
#include "libstart/base/log.h"
#include "libstart/image/after-cut.h"
#include "libstart/image/lock.h"
#include "libstart/image/tool-words.h"
#include "libstart/image/tool.h"
#include "libstart/image/unsynced.h"

/* Podman alone compares layers with their digests. It reads all of them, 50 MB in a second and more, so only after a
 * power cut that came within a pull. */
static void look(void) {
        g_autoptr(GPtrArray) words = tool_words("podman", "system", "check", NULL);
        g_autoptr(GError) error = NULL;

        log_notice("The machine went off while an image was brought: seeing whether all images are whole");
        if (tool_run_long(words, "Looking at all images", &error))
                return;
        if (tool_is_there("podman") && strstr(error->message, "damage"))
                log_warning(
                        "Images may be damaged, and are used as they are: 'podman system check' says which. Remove such "
                        "an image (podman rmi), and start its service again");
        else
                log_warning(
                        "Whether the images are whole is not known, as that takes podman 5.2 or later (%s). If one does "
                        "not work, remove it (podman rmi, skopeo delete), and start its service again",
                        error->message);
}

void image_look_after_cut(void) {
        g_autoptr(GError) error = NULL;
        _cleanup_close_ int lock = image_lock("podman system check", &error);

        if (lock < 0)
                log_warning("%s", error->message);
        if (lock < 0 || !unsynced_was_cut(NULL)) /* another one was quicker */
                return;
        look();
        if (!image_notes_lead_back())
                unsynced_forget();
}
