/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "libstart/ctl/remote.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libstart/base/error.h"

const char *remote_find_host(char **words, char ***rest) {
        const char *word = words[0];

        *rest = words + 1;
        if (!word)
                return NULL;
        if (g_str_has_prefix(word, "--host="))
                return word + strlen("--host=");
        if (!g_str_equal(word, "-H") && !g_str_equal(word, "--host"))
                return g_str_has_prefix(word, "-H") ? word + strlen("-H") : NULL;
        if (!words[1])
                return "";
        *rest = words + 2;
        return words[1];
}

/* ssh would take a name that begins with '-' for an option, and one of these runs a command of its choice here. */
static bool check_host(const char *host, GError **error) {
        if (!*host)
                return error_set(error, KT_ERROR_USAGE, "-H takes a machine: keyturnctl -H HOST COMMAND");
        if (*host == '-')
                return error_set(error, KT_ERROR_USAGE, "'%s' is no machine: a name does not begin with '-'", host);
        for (const char *c = host; *c; c++)
                if (g_ascii_iscntrl(*c) || *c == ' ')
                        return error_set(error, KT_ERROR_USAGE, "'%s' is no machine: it has a blank in it", host);
        return true;
}

char **remote_make_call(const char *host, char *const words[], bool terminal, GError **error) {
        g_autoptr(GStrvBuilder) call = g_strv_builder_new();
        g_autoptr(GString) command = g_string_new("keyturnctl");

        if (!check_host(host, error))
                return NULL;
        for (char *const *word = words; *word; word++) {
                g_autofree char *quoted = g_shell_quote(*word);

                g_string_append_printf(command, " %s", quoted);
        }
        g_strv_builder_add(call, "ssh");
        if (terminal)
                g_strv_builder_add(call, "-t");
        g_strv_builder_add_many(call, "--", host, command->str, NULL); /* "--": nothing behind it is an option */
        return g_strv_builder_end(call);
}

bool remote_execute(const char *host, char *const words[], GError **error) {
        bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
        g_auto(GStrv) call = remote_make_call(host, words, terminal, error);

        if (!call)
                return false;
        (void) execvp(call[0], call);
        return error_set_errno(error, errno, "Cannot execute 'ssh', which '-H' needs");
}
