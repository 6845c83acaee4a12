/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/summaries.h"
#include "libstart/request/seccomp-request.h"

/* An update that was interrupted is ended when all containers have started; else the unit's condition skips it. */
static void put_update_dropin(const Run *run, const char *origin) {
        g_autoptr(GString) text = g_string_new("# Made by keyturn-generator; do not edit.\n[Unit]\n"
                                               "Wants=keyturn-update-resume.service\n");

        if (run->has_updates)
                writer_put_file(run->writer, origin,
                                keyturn_conf_is_users(run->conf) ? "default.target.d/50-keyturn-update.conf" :
                                                                   "multi-user.target.d/50-keyturn-update.conf",
                                READERS_ALL, text);
}

void summaries_put(Run *run, const char *origin) {
        g_autoptr(GString) filters = filters_needed_print(run->filters),
                           list = untrusted_paths_print(run->untrusted, run->machine);

        machine_conf_write(run->machine, run->writer, origin);
        if (filters)
                writer_put_file(run->writer, origin, SECCOMP_REQUEST_DROPIN, READERS_ALL, filters);
        if (list)
                writer_put_file(run->writer, origin, UNTRUSTED_PATHS_FILE, READERS_NONE, list);
        put_update_dropin(run, origin);
}
