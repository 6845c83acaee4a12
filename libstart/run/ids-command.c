/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>
#include <sys/stat.h>

#include "libstart/base/error.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/request/launch-args.h"
#include "libstart/request/launch-request.h"
#include "libstart/root/root.h"
#include "libstart/run/ids-command.h"
#include "libstart/run/image-copy.h"
#include "libstart/runtime/runtime.h"
#include "libstart/userns/user-namespace.h"
#include "libstart/userns/userns-descriptor.h"
#include "libstart/userns/userns-pin.h"

static bool is_unit(const char *word) {
        return !strchr(word, '/') && word[0] != '.';
}

static bool is_running(const char *unit, const char *name) {
        g_autofree char *state_root = g_build_filename(PATH_RUN, unit, NULL);

        return runtime_is_running(state_root, name);
}

/* Without an image nothing can be known, and the start will say so, or have pulled it: *ret_found is false then, and
 * `what` is made at the start. */
static bool find_ids(const char *unit, const ContainerRequest *request, const char *what, Root *root,
                     UserNamespace *userns, bool *ret_found, GError **error) {
        IdAssignment wanted = { .name = request->name, .unit = unit, .request = &request->userns };
        g_autoptr(GError) problem = NULL;

        *ret_found = root_find(request, root, &problem);
        if (!*ret_found && g_error_matches(problem, KT_ERROR, KT_ERROR_NOT_FOUND)) {
                log_info("The %s at its start: %s", what, problem->message);
                return true;
        }
        if (!*ret_found) {
                g_propagate_error(error, g_steal_pointer(&problem));
                return false;
        }
        wanted.user = request->user ?: root->config->user;
        wanted.layers = root->layers;
        return user_namespace_find(&wanted, userns, error);
}

static bool make(const char *const *words, bool (*make_one)(const char *, ContainerRequest *, GError **),
                 GError **error) {
        g_auto(ContainerRequest) request = { 0 };
        g_autoptr(LaunchArgs) args = launch_args_parse(words + 1, error);

        /* By hand; units name it. */
        if (args && !args->name)
                args->name = g_strdup(words[0]);
        return args && launch_args_read(args, &request, error) && make_one(words[0], &request, error);
}

/*
 * userns
 */

/* One in which every id is itself has no descriptor, as mounts need none. */
static bool pin_found(const char *unit, UserNamespace *userns, GError **error) {
        if (!userns->uids || userns->is_pinned)
                return true;
        if (userns->fd < 0)
                userns->fd = userns_descriptor_make(userns->uids, userns->gids, userns->maker, error);
        return userns->fd >= 0 && userns_pin_make(unit, userns->fd, userns->uids, userns->gids, userns->maker, error);
}

static bool pin(const char *unit, ContainerRequest *request, GError **error) {
        g_auto(Root) root = ROOT_NULL;
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;
        g_autofree char *what = g_strdup_printf("ids of '%s' are found", request->name);
        bool found;

        if (g_str_equal(request->image, "-"))
                return user_namespace_find_without_image(&request->userns, unit, false, &userns, error) &&
                       pin_found(unit, &userns, error);
        /* Then it has the ids that are noted, whatever its image is now: nobody may get them before it has stopped.
         * Its next start finds others if it needs them. */
        if (is_running(unit, request->name))
                return true;
        return find_ids(unit, request, what, &root, &userns, &found, error) &&
               (!found || pin_found(unit, &userns, error));
}

bool userns_command(const char *const *words, GError **error) {
        bool unpins = words[0] && g_str_equal(words[0], "--unpin");

        if (!words[0] || !words[1] || !is_unit(words[unpins]))
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart userns: UNIT [OPTION...] IMAGE or --unpin UNIT is needed");
        return unpins ? userns_pin_remove(words[1], error) : make(words, pin, error);
}

/*
 * copy
 */

static bool copy(const char *unit, ContainerRequest *request, GError **error) {
        g_auto(Root) root = ROOT_NULL;
        g_auto(UserNamespace) userns = USER_NAMESPACE_NULL;
        g_autofree char *what = g_strdup_printf("image of '%s' is copied", request->name);
        bool found;

        /* Then it has the ids that are noted: nobody may get them before it has stopped. */
        if (request->userns.mode == USERNS_AUTO && is_running(unit, request->name))
                return true;
        if (!find_ids(unit, request, what, &root, &userns, &found, error))
                return false;
        if (!found)
                return true;
        if (request->userns.mode == USERNS_HOST)
                return error_set(error, KT_ERROR_USAGE, "This container has no ids of its own");
        return !user_namespace_has_other_owners(&request->userns, &userns) ||
               image_copy_make(unit, &root, &userns, error);
}

bool copy_command(const char *const *words, GError **error) {
        bool forgets;

        umask(0); /* modes are meant as they stand */
        if (!user_view_is_entered())
                return error_set(error, KT_ERROR_USAGE, "libstart copy: root's containers need no copies");
        if (g_str_equal(words[0], "--clean"))
                return image_copy_clean(error);
        forgets = g_str_equal(words[0], "--forget");
        if (!words[1] || !is_unit(words[forgets]))
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart copy: UNIT [OPTION...] IMAGE, --forget UNIT or --clean is needed");
        return forgets ? image_copy_forget(words[1], error) : make(words, copy, error);
}
