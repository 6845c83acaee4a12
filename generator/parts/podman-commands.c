/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/unit-names.h"
#include "generator/parts/podman-commands.h"

/* Of podman(1): what is said of a container that is there. */
static const struct {
        const char *command, *instead;
} commands[] = {
        { "cp", "keyturnctl cp" },           { "exec", "keyturnctl exec" },  { "healthcheck", "keyturnctl health" },
        { "inspect", "keyturnctl inspect" }, { "kill", "systemctl kill" },   { "logs", "keyturnctl logs" },
        { "restart", "systemctl restart" },  { "start", "systemctl start" }, { "stop", "systemctl stop" },
};

static const char *find_instead(const char *command) {
        for (size_t i = 0; command && i < G_N_ELEMENTS(commands); i++)
                if (g_str_equal(commands[i].command, command))
                        return commands[i].instead;
        return NULL;
}

static bool is_podman(const char *word) {
        return g_str_equal(word, "podman") || g_str_has_suffix(word, "/podman");
}

static bool is_keyturns(const Conversion *container, const char *word) {
        g_autofree char *name = g_strndup(word, strcspn(word, ":")); /* of NAME:PATH */

        return unit_names_container(container->names, name);
}

/* What stands behind the name of somebody else's container is a command in there. */
static bool is_command_in_another(const char *instead, char *const *word) {
        return g_str_equal(instead, "keyturnctl exec") && word[0][0] != '-' && word[-1][0] != '-';
}

static const char *find_command(const Conversion *container, char **words, const char **ret_name) {
        const char *instead = NULL;

        for (char **word = words; *word; word++)
                if (is_podman(*word + strspn(*word, "-@:+!"))) {
                        instead = find_instead(word[1]);
                        word += instead ? 1 : 0;
                } else if (instead && is_keyturns(container, *word)) {
                        *ret_name = *word;
                        return instead;
                } else if (instead && is_command_in_another(instead, word)) {
                        instead = NULL;
                }
        return NULL;
}

/* Of those that keyturn makes for the container the one that is among the words, or NULL. */
static const char *find_network(const Conversion *container, char *const *words) {
        const GArray *made = container->network.made;

        for (guint i = 0; i < made->len; i++)
                if (g_strv_contains((const char *const *) words, g_array_index(made, Noted, i).text))
                        return g_array_index(made, Noted, i).text;
        return NULL;
}

static void check_command(Conversion *container, const UnitLine *line, const char *command) {
        g_auto(GStrv) split = g_strsplit_set(command, " \t'\"", -1);
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        const char *name = NULL, *network, *instead;

        for (char **word = split; *word; word++)
                if ((*word)[0])
                        g_ptr_array_add(words, *word);
        g_ptr_array_add(words, NULL);
        network = strstr(command, "podman network create") ? find_network(container, (char **) words->pdata) : NULL;
        if (network)
                conversion_difference(container, line,
                                      "comes too late, as the container's networks are there before its service "
                                      "starts: write %s.network, and Network=%s.network",
                                      network, network);
        instead = find_command(container, (char **) words->pdata, &name);
        if (instead)
                conversion_difference(container, line,
                                      "podman finds no container '%.*s', as keyturn starts it: write %s",
                                      (int) strcspn(name, ":"), name, instead);
}

/* Those of a script, too: what stands between quotes is often one. */
static void check_line(Conversion *container, const UnitLine *line) {
        g_auto(GStrv) parts = g_strsplit_set(line->value, ";|&()", -1);

        for (char **part = parts; *part; part++)
                check_command(container, line, *part);
}

void podman_commands_check(Conversion *container) {
        const UnitSection *section = container->service->user_service;

        for (guint i = 0; section && i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key && g_str_has_prefix(line->key, "Exec") && strstr(line->value, "podman"))
                        check_line(container, line);
        }
}
