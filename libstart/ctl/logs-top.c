/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/exit-codes.h"
#include "libstart/base/user-view.h"
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

/* What --user --unit stands for, which means root's here: journalctl takes the user's id for that. */
static void add_users_unit(GPtrArray *call, const char *unit) {
        static const char *const fields[] = { "_SYSTEMD_USER_UNIT", "USER_UNIT" };

        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
                if (i > 0)
                        g_ptr_array_add(call, (char *) "+");
                g_ptr_array_add(call, g_strdup_printf("%s=%s", fields[i], unit));
                g_ptr_array_add(call, g_strdup_printf("_UID=%u", user_view_find_uid()));
        }
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
        if (user_view_is_here())
                add_users_unit(call, container->unit);
        else {
                g_ptr_array_add(call, (char *) "--unit");
                g_ptr_array_add(call, container->unit);
        }
        if (options->follow)
                g_ptr_array_add(call, (char *) "--follow");
        if (options->lines) /* in one word: else journalctl takes what is no number for another's */
                g_ptr_array_add(call, g_strconcat("--lines=", options->lines, NULL));
        if (options->json)
                g_ptr_array_add(call, (char *) "--output=json");
        for (char **word = words + 1; *word; word++)
                g_ptr_array_add(call, g_str_equal(*word, "--json") ? (char *) "--output=json" : *word);
        return execute(call, error);
}

/* Where the services are. Transfer full. */
static char *find_slice(void) {
        return user_view_is_here() ? g_strdup_printf("user.slice/user-%u.slice", user_view_find_uid()) :
                                     g_strdup("system.slice");
}

/* A payload that is an init names the control groups below its own as it likes, and systemd-cgtop writes such a name
 * to the terminal as it is. So what is shown ends above them, unless another depth is asked for. */
static const char *find_depth(const ContainerUnit *container) {
        return container ? "--depth=1" : user_view_is_here() ? "--depth=4" : "--depth=2";
}

int command_top(const GPtrArray *all, const Options *options, char **words, GError **error) {
        g_autoptr(GPtrArray) call = g_ptr_array_new();
        const ContainerUnit *container = words[0] ? container_units_get(all, words[0], error) : NULL;

        if (words[0] && (!container || !payload_check_running(container, error)))
                return -1;
        g_ptr_array_add(call, (char *) "systemd-cgtop");
        g_ptr_array_add(call, (char *) find_depth(container));
        g_ptr_array_add(call, container ? container->cgroup : find_slice());
        for (char **word = container ? words + 1 : words; *word; word++)
                g_ptr_array_add(call, *word);
        return execute(call, error);
}
