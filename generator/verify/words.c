/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/verify/words.h"

static void warn(Report *report, const MadeUnit *unit, const char *rule, const char *key, const char *text,
                 const char *message) {
        const UnitLine *line = source_find_line(unit->source, "Container", key, text);

        if (line)
                report_add(report, line->path, line->number, line->key, false, rule, message);
}

static const char *find_word(const GPtrArray *words, const char *const *wanted) {
        for (guint i = 0; i < words->len; i++)
                if (g_strv_contains(wanted, words->pdata[i]))
                        return words->pdata[i];
        return NULL;
}

/* "8080:80 # web" is an error already. Here are the values that may be of any words. */
static void check_comments(const MadeUnit *unit, Report *report) {
        static const char *const comment[] = { "#", NULL };
        const struct {
                const char *key;
                const GPtrArray *words;
        } lists[] = { { "Exec", unit->args->command },
                      { "Environment", unit->args->env },
                      { "Label", unit->args->labels },
                      { "Annotation", unit->args->annotations } };

        for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
                if (find_word(lists[i].words, comment))
                        warn(report, unit, "comment", lists[i].key, " #",
                             "'#' and what follows belong to the value: a comment has a line of its own");
}

static void check_command(const MadeUnit *unit, Report *report) {
        static const char *const operators[] = { "&&", "||", "|", ">", ">>", "2>&1", NULL };
        const char *found = find_word(unit->args->command, operators);
        g_autofree char *message = NULL;

        if (!found)
                return;
        message = g_strdup_printf("'%s' is an argument like any other, as no shell reads this: write sh -c \"...\"",
                                  found);
        warn(report, unit, "no-shell", "Exec", found, message);
}

/* As podlet and Ansible have written them. */
static void check_health(const MadeUnit *unit, const char *key, const char *command, Report *report) {
        size_t length = command ? strlen(command) : 0;

        if (length < 2)
                return;
        if (g_str_has_prefix(command, "['"))
                warn(report, unit, "health-quotes", key, NULL,
                     "a JSON array has double quotes: the shell gets all of this as a command");
        else if (strchr("'\"", command[0]) && strchr(command + 1, command[0]) == command + length - 1)
                warn(report, unit, "health-quotes", key, NULL,
                     "the shell takes what is in the quotes for the name of one program: remove them");
}

void words_check(const MadeUnit *unit, Report *report) {
        if (!unit->args)
                return;
        check_comments(unit, report);
        check_command(unit, report);
        check_health(unit, "HealthCmd", unit->args->health_cmd, report);
        check_health(unit, "HealthStartupCmd", unit->args->health_startup_cmd, report);
}
