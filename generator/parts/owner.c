/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/owner.h"
#include "generator/unit/key.h"
#include "libstart/base/error.h"

bool handle_store(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (container->is_users && g_str_equal(value->text, "user"))
                return error_set(error, KT_ERROR_USAGE,
                                 "a user's manager finds images in that user's store and in no other: leave it out");
        return key_set_option(container, "store", value->text, error);
}

static const char *const roots[] = { "root", "0", NULL };

/* NULL: root. */
static const UnitLine *find_line(const Conversion *container, const char *key) {
        const UnitLine *line = service_user_line(container->service, key);

        return line && !g_strv_contains(roots, line->value) ? line : NULL;
}

/* What systemd would do as that user, or for it. key: of [Service], by which it is not root's. */
static void refuse_line(Conversion *container, const UnitLine *line, const char *key) {
        static const char *const commands[] = { "ExecCondition", "ExecStart",    "ExecStartPre", "ExecStartPost",
                                                "ExecStop",      "ExecStopPost", "ExecReload",   NULL };
        static const char *const directories[] = { "StateDirectory", "CacheDirectory", "LogsDirectory",
                                                   "ConfigurationDirectory", NULL };

        if (g_strv_contains(commands, line->key) && !strchr("+!", line->value[strspn(line->value, "-@:")]))
                conversion_problem(
                        container, line,
                        "would be executed as root, as %s= says whom the container belongs to: put it into "
                        "a service of its own, or a '+' before it",
                        key);
        else if (g_strv_contains(directories, line->key) && line->value[0])
                conversion_problem(container, line, "would be root's, as %s= says whom the container belongs to: %s",
                                   key,
                                   g_str_equal(key, "User") ? "have tmpfiles.d(5) make it" : "name a volume, with U");
}

static void refuse_others(Conversion *container, const char *key) {
        const UnitSection *section = container->service->user_service;

        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key)
                        refuse_line(container, line, key);
        }
        if (conversion_line(container, "Container", "Pod"))
                conversion_problem(container, service_user_line(container->service, key),
                                   "a container of a pod has the pod's ids: leave out %s= here", key);
}

/* NULL: it is off. What is no boolean is a problem. */
static const UnitLine *find_dynamic(Conversion *container) {
        const UnitLine *line = service_user_line(container->service, "DynamicUser");
        g_autoptr(GError) error = NULL;
        bool enabled = false;

        if (line && !key_parse_boolean(line->value, &enabled, &error))
                conversion_problem(container, line, "%s", error->message);
        return enabled ? line : NULL;
}

/* systemd's own DynamicUser= forbids new privileges, and lets nobody allow them. */
static void refuse_privileges(Conversion *container) {
        const UnitLine *lines[] = { conversion_line(container, "Container", "NoNewPrivileges"),
                                    service_user_line(container->service, "NoNewPrivileges") };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                bool enabled = true;

                if (lines[i] && key_parse_boolean(lines[i]->value, &enabled, NULL) && !enabled)
                        conversion_problem(container, lines[i],
                                           "DynamicUser= means that there are none: leave out one of the two");
        }
}

static void finish_dynamic(Conversion *container) {
        static const char *const names[] = { "User", "Group" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                const UnitLine *line = service_user_line(container->service, names[i]);

                if (line)
                        conversion_problem(container, line,
                                           "the ids of DynamicUser= are nobody's, and have no name: leave out one of "
                                           "the two");
        }
        container->args->dynamic_user = FLAG_TRUE;
        refuse_privileges(container);
        refuse_others(container, "DynamicUser");
        service_comment(container->service,
                        "DynamicUser=: the container has ids that nobody has. libstart itself is root.");
        service_set(container->service, "DynamicUser", "no");
}

void owner_finish(Conversion *container) {
        const UnitLine *user = find_line(container, "User"), *group = find_line(container, "Group");
        g_autofree char *owner = NULL;
        g_autoptr(GError) error = NULL;

        if (find_dynamic(container)) {
                finish_dynamic(container);
                return;
        }
        if (!user && group)
                conversion_problem(container, group,
                                   "stands for the group of a container that belongs to a user: say User=, too");
        if (!user)
                return;
        owner = g_strjoin(group ? ":" : NULL, user->value, group ? group->value : NULL, NULL);
        if (!key_set_option(container, "owner", owner, &error))
                conversion_problem(container, user, "%s", error->message);
        refuse_others(container, "User");
        service_comment(container->service, "User=%s: the container belongs to that user. libstart itself is root.",
                        owner);
        service_set(container->service, "User", "");
        service_set(container->service, "Group", "");
}

void owner_refuse(Conversion *container, const char *advice) {
        static const char *const keys[] = { "User", "Group" };
        const UnitLine *dynamic = find_dynamic(container);

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                /* A user's manager is not root: it cannot even become who it is. */
                const UnitLine *line = container->is_users ? service_user_line(container->service, keys[i]) :
                                                             find_line(container, keys[i]);

                if (line)
                        conversion_problem(container, line, "%s", advice);
        }
        if (dynamic)
                conversion_problem(container, dynamic, "%s", advice);
}
