/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <string.h>

#include "libstart/base/directory.h"
#include "libstart/network/namespace-state.h"
#include "libstart/network/namespace.h"
#include "libstart/network/user-bridges.h"

#define SERVER "aardvark-dns"

int user_bridges_open(void) {
        g_autofree char *pin = namespace_state_path(USER_BRIDGES, STATE_NETNS);

        return namespace_open(pin);
}

/* Transfer full. */
static char *state_path(const char *name, const char *file) {
        return g_build_filename(namespace_state_run(), USER_BRIDGES_NAME, name, file, NULL);
}

/* Its number may be another process's by now, though none but the user's own. */
static void end_server(void) {
        g_autofree char *file = state_path(SERVER, "aardvark.pid"), *text = NULL, *path = NULL, *name = NULL;
        guint64 pid = 0;

        if (!g_file_get_contents(file, &text, NULL, NULL) ||
            !g_ascii_string_to_unsigned(g_strchomp(text), 10, 2, G_MAXINT32, &pid, NULL))
                return;
        path = g_strdup_printf("/proc/%u/comm", (guint) pid);
        if (g_file_get_contents(path, &name, NULL, NULL) && g_str_equal(g_strchomp(name), SERVER))
                (void) kill((pid_t) pid, SIGTERM);
}

bool user_bridges_forget(GError **error) {
        g_autofree char *server = state_path(SERVER, NULL), *networks = state_path("firewall", "networks"),
                        *ports = state_path("firewall", "ports");

        end_server();
        return directory_remove_files(server, NULL, error) && directory_remove_files(networks, NULL, error) &&
               directory_remove_files(ports, NULL, error);
}

char *user_bridges_find_address(const char *key) {
        g_autofree char *text = NULL;
        g_auto(GStrv) lines = NULL;
        size_t length = strlen(key);

        if (!namespace_state_read(USER_BRIDGES, STATE_NAMES, &text, NULL) || !text)
                return NULL;
        lines = g_strsplit(text, "\n", -1);
        for (char **line = lines; *line; line++)
                if (g_str_has_prefix(*line, key) && (*line)[length] == ' ')
                        return g_strdup(*line + length + 1);
        return NULL;
}
