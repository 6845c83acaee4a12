/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/ctl/commands.h"
#include "libstart/ctl/container/payload.h"

/* Commands that are systemd's programs, with the container's name in their words. */

/* words: NULL-terminated, of const char *. Returns where it cannot be executed only. */
static int execute(GPtrArray *words, GError **error) {
        g_ptr_array_add(words, NULL);
        (void) execvp(words->pdata[0], (char **) words->pdata);
        error_set_errno(error, errno, "Cannot execute '%s'", (const char *) words->pdata[0]);
        return EXIT_KEYTURN;
}

/* What the file of a container that has gone once wrote is there, too. */
int command_logs(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) call = g_ptr_array_new();
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;

        if (!words[0])
                error_set(error, KT_ERROR_USAGE, "'logs' takes a container, and then options of journalctl");
        if (!container)
                return -1;
        g_ptr_array_add(call, (char *) "journalctl");
        g_ptr_array_add(call, (char *) "--unit");
        g_ptr_array_add(call, container->unit);
        if (options->follow)
                g_ptr_array_add(call, (char *) "--follow");
        if (options->lines) {
                g_ptr_array_add(call, (char *) "--lines");
                g_ptr_array_add(call, options->lines);
        }
        if (options->json)
                g_ptr_array_add(call, (char *) "--output=json");
        for (char **word = words + 1; *word; word++)
                g_ptr_array_add(call, *word);
        return execute(call, error);
}

int command_top(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) call = g_ptr_array_new();
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;

        if (words[0] && (!container || !payload_check_running(container, error)))
                return -1;
        g_ptr_array_add(call, (char *) "systemd-cgtop");
        g_ptr_array_add(call, container ? container->cgroup : (char *) "system.slice");
        for (char **word = container ? words + 1 : words; *word; word++)
                g_ptr_array_add(call, *word);
        return execute(call, error);
}
