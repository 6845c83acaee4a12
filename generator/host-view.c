/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/host-view.h"
#include "libstart/option/launch-request.h"

static bool is_hosts(const char *ns) {
        return g_strcmp0(ns, "host") == 0;
}

void host_view_finish(Container *container) {
        const LaunchArgs *args = container->args;
        const UnitLine *line = container_line(container, "Container", "PodmanArgs");
        g_autoptr(GError) error = NULL;

        if ((is_hosts(args->pid) || is_hosts(args->ipc) || is_hosts(args->uts) || args->no_hosts == FLAG_TRUE) &&
            !launch_args_check(args, &error))
                container_problem(container, line, "%s", error->message);
        else if (is_hosts(args->pid))
                container_warning(
                        container, line,
                        "--pid=host: the payload sees all processes of the machine, and if it is root it can "
                        "become as much as the machine's root; give it User=, or trust it with the machine");
}
