/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/run/seccomp-filter.h"
#include "libstart/base/journal-message.h"
#include "libstart/base/log.h"
#include "libstart/base/user-view.h"
#include "libstart/seccomp/obtain.h"
#include "libstart/seccomp/parents-keyring.h"
#include "libstart/seccomp/resolve.h"

/* The container has its filter, and somebody should know what it cost. */
static void tell_origin(const SeccompOrigin *origin) {
        g_autoptr(GError) error = NULL;
        g_autofree char *message = g_strdup_printf(
                "Seccomp filter %s: %s",
                origin->compiled ? "compiled during the start" : "taken from the system image", origin->why);

        if (!origin->compiled && !origin->damaged)
                log_debug("%s", message);
        else if (!journal_message_send("libstart", LOG_WARNING, MESSAGE_ID_SECCOMP_COMPILED, message, "", &error))
                log_warning("%s", message);
}

bool seccomp_filter_find(const ContainerRequest *request, guint64 capabilities,
                         runtime_spec_schema_config_linux *linux_, GBytes **ret, GError **error) {
        g_auto(SeccompOrigin) origin = { 0 };
        g_autoptr(GBytes) filter = NULL;

        *ret = NULL;
        if (request->unconfined)
                return true;
        if (request->runtime) {
                linux_->seccomp = seccomp_resolved_for("", request->seccomp_profile, capabilities, error);
                return linux_->seccomp;
        }
        filter = seccomp_filter_for("", request->seccomp_profile, capabilities, &origin, error);
        if (!filter)
                return false;
        if (origin.why)
                tell_origin(&origin);
        *ret = user_view_is_entered() ? seccomp_keep_parents_keyring(filter) : g_steal_pointer(&filter);
        return true;
}
