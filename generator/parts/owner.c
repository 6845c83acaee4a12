/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/parts/owner.h"
#include "generator/unit/key.h"

static const char *const roots[] = { "root", "0", NULL };

/* NULL: root. */
static const UnitLine *find_line(const Container *container, const char *key) {
        const UnitLine *line = service_user_line(container->service, key);

        return line && !g_strv_contains(roots, line->value) ? line : NULL;
}

/* What systemd would do as that user, or for it. */
static void refuse_line(Container *container, const UnitLine *line) {
        static const char *const commands[] = { "ExecCondition", "ExecStart",    "ExecStartPre", "ExecStartPost",
                                                "ExecStop",      "ExecStopPost", "ExecReload",   NULL };
        static const char *const directories[] = { "StateDirectory", "CacheDirectory", "LogsDirectory",
                                                   "ConfigurationDirectory", NULL };

        if (g_strv_contains(commands, line->key) && !strchr("+!", line->value[strspn(line->value, "-@:")]))
                container_problem(
                        container, line,
                        "would be executed as root, as User= says whom the container belongs to: put it into "
                        "a service of its own, or a '+' before it");
        else if (g_strv_contains(directories, line->key) && line->value[0])
                container_problem(container, line,
                                  "would be root's, as User= says whom the container belongs to: have tmpfiles.d(5) "
                                  "make it");
}

static void refuse_others(Container *container) {
        const UnitSection *section = container->service->user_service;

        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (line->key)
                        refuse_line(container, line);
        }
}

static void refuse_dynamic(Container *container) {
        const UnitLine *dynamic = service_user_line(container->service, "DynamicUser");
        bool enabled = true;

        if (dynamic && (!key_parse_boolean(dynamic->value, &enabled, NULL) || enabled))
                container_problem(container, dynamic,
                                  "a container gets ids that nobody has by UserNS=auto in [Container]");
}

void owner_finish(Container *container) {
        const UnitLine *user = find_line(container, "User"), *group = find_line(container, "Group");
        g_autofree char *owner = NULL;
        g_autoptr(GError) error = NULL;

        refuse_dynamic(container);
        if (!user && group)
                container_problem(container, group,
                                  "stands for the group of a container that belongs to a user: say User=, too");
        if (!user)
                return;
        owner = g_strjoin(group ? ":" : NULL, user->value, group ? group->value : NULL, NULL);
        if (!key_set_option(container, "owner", owner, &error))
                container_problem(container, user, "%s", error->message);
        if (container_line(container, "Container", "Pod"))
                container_problem(container, user, "a container of a pod has the pod's ids: leave out User= here");
        refuse_others(container);
        service_comment(container->service, "User=%s: the container belongs to that user. libstart itself is root.",
                        owner);
        service_set(container->service, "User", "");
        service_set(container->service, "Group", "");
}

void owner_refuse(Container *container, const char *advice) {
        static const char *const keys[] = { "User", "Group" };

        for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
                const UnitLine *line = find_line(container, keys[i]);

                if (line)
                        container_problem(container, line, "%s", advice);
        }
        refuse_dynamic(container);
}
