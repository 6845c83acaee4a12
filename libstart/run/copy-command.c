/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/run/copy-command.h"
#include "libstart/run/image-copy.h"
#include "libstart/runtime/runtime.h"

/* Without an image the start will say so, or wait for this once more. */
static bool make(const char *unit, const ContainerRequest *request, GError **error) {
        g_auto(Root) root = ROOT_NULL;
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;
        g_autoptr(GError) problem = NULL;
        IdAssignment wanted = { .name = request->name, .unit = unit, .request = &request->userns };
        g_autofree char *state_root = g_build_filename(PATH_RUN, unit, NULL);

        /* Then it has the ids that are noted: nobody may get them before it has stopped. */
        if (request->userns.mode == USERNS_AUTO && runtime_is_running(state_root, request->name))
                return true;
        if (!root_find(request, &root, &problem)) {
                if (!g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                        g_propagate_error(error, g_steal_pointer(&problem));
                        return false;
                }
                log_info("The image of '%s' is copied at its start: %s", request->name, problem->message);
                return true;
        }
        wanted.user = request->user ?: root.config->user;
        wanted.layers = root.layers;
        if (!user_namespace_find(&wanted, &userns, error))
                return false;
        if (request->userns.mode == USERNS_HOST)
                return error_set(error, KT_ERROR_USAGE, "This container has no ids of its own");
        return !user_namespace_has_other_owners(&request->userns, &userns) ||
               image_copy_make(unit, &root, &userns, error);
}

static bool is_unit(const char *word) {
        return !strchr(word, '/') && word[0] != '.';
}

bool copy_command(const char *const *words, GError **error) {
        g_auto(ContainerRequest) request = { 0 };
        g_autoptr(LaunchArgs) args = NULL;
        const char *unit = words[0];
        bool forgets;

        umask(0); /* modes are meant as they stand */
        if (!user_view_is_entered())
                return error_set(error, KT_ERROR_USAGE, "libstart copy: root's containers need no copies");
        if (g_str_equal(unit, "--clean"))
                return image_copy_clean(error);
        forgets = g_str_equal(unit, "--forget");
        if (!words[1] || !is_unit(forgets ? words[1] : unit))
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart copy: UNIT [OPTION...] IMAGE, --forget UNIT or --clean is needed");
        if (forgets)
                return image_copy_forget(words[1], error);
        args = launch_args_parse(words + 1, error);
        return args && launch_args_read(args, &request, error) && make(unit, &request, error);
}
