/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/root/root.h"
#include "libstart/run/userns-command.h"
#include "libstart/runtime/runtime.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/userns/userns-pin.h"

/* Without an image nothing can be known, and the start will say so, or have pulled it. */
static bool find_root(const ContainerRequest *request, Root *ret, bool *ret_found, GError **error) {
        g_autoptr(GError) problem = NULL;

        *ret_found = root_find(request, ret, &problem);
        if (*ret_found)
                return true;
        if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        log_info("The ids of '%s' are found at its start: %s", request->name, problem->message);
        return true;
}

/* One in which every id is itself has no descriptor, as mounts need none. */
static bool pin_found(const char *unit, UserNamespace *userns, GError **error) {
        if (!userns->uids || userns->is_pinned)
                return true;
        if (userns->fd < 0)
                userns->fd = userns_descriptor_make(userns->uids, userns->gids, error);
        return userns->fd >= 0 && userns_pin_make(unit, userns->fd, userns->uids, userns->gids, error);
}

static bool is_running(const char *unit, const char *name) {
        g_autofree char *state_root = g_build_filename(PATH_RUN, unit, NULL);

        return runtime_is_running(state_root, name);
}

static bool pin_of_image(const char *unit, const ContainerRequest *request, GError **error) {
        g_auto(Root) root = ROOT_NULL;
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;
        IdAssignment wanted = { .name = request->name, .unit = unit, .request = &request->userns };
        bool found;

        /* Then it has the ids that are noted, whatever its image is now: nobody may get them before it has stopped.
         * Its next start finds others if it needs them. */
        if (is_running(unit, request->name))
                return true;
        if (!find_root(request, &root, &found, error))
                return false;
        if (!found)
                return true;
        wanted.user = request->user ?: root.config->user;
        wanted.layers = root.layers;
        return user_namespace_find(&wanted, &userns, error) && pin_found(unit, &userns, error);
}

static bool pin(const char *unit, ContainerRequest *request, GError **error) {
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;

        if (!g_str_equal(request->image, "-"))
                return pin_of_image(unit, request, error);
        return user_namespace_find_without_image(&request->userns, unit, false, &userns, error) &&
               pin_found(unit, &userns, error);
}

bool userns_command(const char *const *words, GError **error) {
        g_auto(ContainerRequest) request = { 0 };
        g_autoptr(LaunchArgs) args = NULL;
        const char *unit = words[0] && g_str_equal(words[0], "--unpin") ? words[1] : words[0];

        if (!unit || !words[1] || strchr(unit, '/') || unit[0] == '.')
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart userns: UNIT [OPTION...] IMAGE or --unpin UNIT is needed");
        if (unit != words[0])
                return userns_pin_remove(unit, error);
        args = launch_args_parse(words + 1, error);
        return args && launch_args_read(args, &request, error) && pin(unit, &request, error);
}
