/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/hooks.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/hook/hook-dirs.h"
#include "libstart/hook/hook-match.h"
#include "libstart/request/hook-word.h"
#include "libstart/value/unit-words.h"

/* A hook of the machine's. */
typedef struct KnownHook {
        char *path; /* below the root */
        HookFile *file;
} KnownHook;

struct Hooks {
        char *root;         /* "" for this machine's */
        char **directories; /* where they are; NULL: where containers.conf says */
        GArray *known;      /* of KnownHook; NULL: nobody has asked yet */
        GError *error;      /* why they are not known */
};

static void known_clear(void *data) {
        KnownHook *hook = data;

        g_free(hook->path);
        hook_file_free(hook->file);
}

Hooks *hooks_new(const char *root) {
        Hooks *hooks = g_new0(Hooks, 1);

        hooks->root = g_strdup(root ? root : "");
        return hooks;
}

void hooks_free(Hooks *hooks) {
        g_free(hooks->root);
        g_strfreev(hooks->directories);
        g_clear_pointer(&hooks->known, g_array_unref);
        g_clear_error(&hooks->error);
        g_free(hooks);
}

static bool read_all(Hooks *hooks, GError **error) {
        g_autoptr(GPtrArray) paths = hook_dirs_list(hooks->root, hooks->directories, error);

        for (guint i = 0; paths && i < paths->len; i++) {
                g_autofree char *full = g_strconcat(hooks->root, paths->pdata[i], NULL);
                KnownHook hook = { .file = hook_file_read(full, error) };

                if (!hook.file)
                        return false;
                hook.path = g_strdup(paths->pdata[i]);
                g_array_append_val(hooks->known, hook);
                if (!hook_file_check_patterns(hook.file, error))
                        return error_prefix(error, "Hook '%s': ", full);
        }
        return paths;
}

static bool find_known(Hooks *hooks) {
        if (!hooks->known) {
                hooks->known = g_array_new(FALSE, FALSE, sizeof(KnownHook));
                g_array_set_clear_func(hooks->known, known_clear);
                if (!read_all(hooks, &hooks->error))
                        g_array_set_size(hooks->known, 0);
        }
        return !hooks->error;
}

/* The command of an image is not known here, and with an init that is what is executed. */
static const char *find_command(const LaunchArgs *args) {
        const char *entrypoint = args->entrypoint;

        return entrypoint && entrypoint[0] && entrypoint[0] != '[' && args->init != FLAG_TRUE ? entrypoint : NULL;
}

/* Not every mount is one of a file of the host's. */
static HookAnswer has_bind_mounts(const LaunchArgs *args) {
        if (args->volumes->len > 0)
                return HOOK_YES;
        return args->mounts->len > 0 ? HOOK_MAYBE : HOOK_NO;
}

/* Those in the directories of its own, if it has any. Transfer full; NULL: it has none. */
static Hooks *find_own(const Conversion *container) {
        Hooks *hooks = container->podman.hook_dirs ? hooks_new(container->hooks->root) : NULL;

        if (hooks)
                hooks->directories = g_strdupv(container->podman.hook_dirs);
        return hooks;
}

/* As Podman does, no container is made where a hook cannot be read: it may be there to protect something. */
void hooks_finish(Conversion *container) {
        g_autoptr(Hooks) own = find_own(container);
        Hooks *hooks = own ?: container->hooks;
        LaunchArgs *args = container->args;
        const HookTarget target = {
                .annotations = args->annotations,
                .command = find_command(args),
                .has_bind_mounts = has_bind_mounts(args),
                .is_unexpanded = true,
        };

        if (!find_known(hooks)) {
                conversion_problem(
                        container, NULL,
                        "Which OCI hooks there are cannot be known (hooks.d, and hooks_dir of containers.conf): %s",
                        hooks->error->message);
                return;
        }
        for (guint i = 0; i < hooks->known->len; i++) {
                const KnownHook *hook = &g_array_index(hooks->known, KnownHook, i);
                HookAnswer answer = hook_file_match(hook->file, &target);

                if (answer == HOOK_NO)
                        continue;
                if (answer == HOOK_YES && hook->file->stages & 1U << HOOK_START_CONTAINER)
                        conversion_problem(container, NULL, "The hook of '%s': " HOOK_IS_IN_THE_CONTAINER,
                                           hook->path);
                g_ptr_array_add(args->hooks,
                                g_strconcat(answer == HOOK_MAYBE ? HOOK_WORD_MAYBE : "", hook->path, NULL));
                container->hook_stages |= hook->file->stages;
        }
}

bool hooks_are_there(Hooks *hooks) {
        return !find_known(hooks) || hooks->known->len > 0;
}

bool hooks_may_add_devices(const Conversion *container) {
        return container->hook_stages & 1U << HOOK_PRECREATE;
}

void hooks_service(Conversion *container) {
        g_autoptr(GString) value = g_string_new("-" KEYTURN_LIBDIR "/libstart poststop");

        if (!(container->hook_stages & 1U << HOOK_POSTSTOP))
                return;
        unit_words_add(value, container->args->state_dir);
        unit_words_add(value, container->args->name);
        service_set(container->service, "ExecStopPost", value->str);
}
