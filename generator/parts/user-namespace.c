/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/source-path.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/value/unit-words.h"

/* Which one is read is known by the option that the new keys have for it. */
bool handle_remap(Container *container, const Key *key, const Value *value, GError **error) {
        guint64 size;

        if (g_str_equal(key->name, "RemapUidSize") &&
            !g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXUINT32, &size, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no number of ids", value->text);
        g_ptr_array_add(container->remap, g_strdup_printf("%s=%s", key->text, value->text));
        return true;
}

/* The values of one key; of a key that has one value, the last is it. */
static GPtrArray *find_values(const Container *container, const char *name) {
        GPtrArray *values = g_ptr_array_new();
        size_t length = strlen(name);

        for (guint i = 0; i < container->remap->len; i++) {
                char *assignment = container->remap->pdata[i];

                if (strncmp(assignment, name, length) == 0 && assignment[length] == '=')
                        g_ptr_array_add(values, assignment + length + 1);
        }
        return values;
}

static void add_options(GString *mode, const char *name, const GPtrArray *values) {
        for (guint i = 0; i < values->len; i++)
                g_string_append_printf(mode, "%c%s=%s", strchr(mode->str, ':') ? ',' : ':', name,
                                       (const char *) values->pdata[i]);
}

static bool add_maps(Container *container, const char *option, const GPtrArray *values, GError **error) {
        for (guint i = 0; i < values->len; i++)
                if (!key_set_option(container, option, values->pdata[i], error))
                        return false;
        return true;
}

/* As Podman's Quadlet has it. */
static bool remap(Container *container, GError **error) {
        g_autoptr(GPtrArray) users = find_values(container, "users"), uids = find_values(container, "uid"),
                             gids = find_values(container, "gid"), sizes = find_values(container, "size");
        const char *how = users->len > 0 ? users->pdata[users->len - 1] : "";
        g_autoptr(GString) mode = g_string_new(how);

        if (g_str_equal(how, "manual"))
                return add_maps(container, "uidmap", uids, error) && add_maps(container, "gidmap", gids, error);
        if (g_str_equal(how, "auto")) {
                add_options(mode, "uidmapping", uids);
                add_options(mode, "gidmapping", gids);
                if (sizes->len > 0 &&
                    strspn(sizes->pdata[sizes->len - 1], "0") < strlen(sizes->pdata[sizes->len - 1]))
                        add_options(mode, "size", sizes);
                return key_set_option(container, "userns", mode->str, error);
        }
        if (g_str_equal(how, "keep-id")) {
                if (uids->len > 1 || gids->len > 1)
                        return error_set(error, KT_ERROR_USAGE, "keep-id takes one RemapUid= and one RemapGid=");
                add_options(mode, "uid", uids);
                add_options(mode, "gid", gids);
                return key_set_option(container, "userns", mode->str, error);
        }
        if (how[0])
                return error_set(error, KT_ERROR_USAGE, "there is no RemapUsers=%s: use auto, keep-id or manual",
                                 how);
        return (uids->len == 0 && gids->len == 0) ||
               error_set(error, KT_ERROR_USAGE,
                         "RemapUid= and RemapGid= do nothing without RemapUsers=; use UIDMap= "
                         "and GIDMap=");
}

static bool is_auto(const char *mode) {
        return g_str_has_prefix(mode, "auto") && (mode[4] == '\0' || mode[4] == ':');
}

static bool has_maps(const LaunchArgs *args) {
        return args->uidmaps->len > 0 || args->gidmaps->len > 0 || args->subuidname || args->subgidname;
}

static bool is_path(const char *mode) {
        return mode && g_str_has_prefix(mode, "ns:");
}

bool user_namespace_is_own(const LaunchArgs *args) {
        return has_maps(args) || args->owner ||
               (args->userns && args->userns[0] && (is_path(args->userns) || !strpbrk(args->userns, "%$")) &&
                !g_str_equal(args->userns, "host"));
}

bool user_namespace_may_be_own(const LaunchArgs *args) {
        return has_maps(args) || args->owner ||
               (args->userns && args->userns[0] && !g_str_equal(args->userns, "host"));
}

static const UnitLine *remap_line(const Container *container) {
        static const char *const keys[] = { "RemapUsers", "RemapUid", "RemapGid", "RemapUidSize" };
        const UnitLine *line = NULL;

        for (size_t i = 0; !line && i < G_N_ELEMENTS(keys); i++)
                line = container_line(container, container->section, keys[i]);
        return line;
}

/* The name of the container as the service that finds the ids sees it; NULL: systemd has to expand it. Transfer full.
 */
static char *find_name(const Container *container, const char *stem) {
        const char *name = container->args->name;

        return g_str_equal(name, "systemd-%N") ? g_strconcat("systemd-", stem, NULL) :
               strpbrk(name, "%$")             ? NULL :
                                                 g_strdup(name);
}

/* Transfer full. */
static char *find_stem(const Container *container) {
        const char *service = container->service->name;

        return g_strndup(service, strlen(service) - strlen(".service"));
}

static bool is_known(const char *value) {
        return value && !strpbrk(value, "%$");
}

static bool are_known(const GPtrArray *values) {
        for (guint i = 0; i < values->len; i++)
                if (!is_known(values->pdata[i]))
                        return false;
        return true;
}

static void copy(GPtrArray *to, const GPtrArray *from) {
        for (guint i = 0; i < from->len; i++)
                g_ptr_array_add(to, g_strdup(from->pdata[i]));
}

/* The words of the container that its ids depend on; NULL as in user_namespace_service(). Strings of the container's.
 */
static LaunchArgs *pick_args(const Container *container, const char *name) {
        const LaunchArgs *from = container->args;
        LaunchArgs *args;

        if (!is_known(name) || !is_known(from->userns) || !is_known(from->user ?: "") || !is_known(from->image))
                return NULL;
        args = launch_args_new();
        args->name = g_strdup(name);
        args->userns = g_strdup(from->userns);
        args->user = g_strdup(from->user);
        args->rootfs = from->rootfs;
        args->image = g_strdup(from->image);
        copy(args->storage_opt, from->storage_opt);
        return args;
}

/* The same where there is no image that they depend on. */
static LaunchArgs *pick_maps(const LaunchArgs *from) {
        LaunchArgs *args;

        if (!is_known(from->userns ?: "") || !is_known(from->owner ?: "") || !is_known(from->subuidname ?: "") ||
            !is_known(from->subgidname ?: "") || !are_known(from->uidmaps) || !are_known(from->gidmaps))
                return NULL;
        args = launch_args_new();
        args->userns = g_strdup(from->userns);
        args->owner = g_strdup(from->owner);
        copy(args->uidmaps, from->uidmaps);
        copy(args->gidmaps, from->gidmaps);
        args->subuidname = g_strdup(from->subuidname);
        args->subgidname = g_strdup(from->subgidname);
        args->image = g_strdup("-");
        return args;
}

/* An instance of a template is not known by its name here, and a service whose directory is named otherwise has no
 * use of it (files/names.h). */
static LaunchArgs *find_args(const Container *container, const char *stem) {
        const char *mode = container->args->userns, *service = container->service->name;
        bool of_image = mode && is_auto(mode) && !g_str_has_suffix(container->source->name, ".pod");
        g_autofree char *name = NULL;

        if (name_has_at(service) || strchr(name_state_directory(service), '+'))
                return NULL;
        if (!of_image)
                return container->network_file && user_namespace_is_own(container->args) && !is_path(mode) ?
                               pick_maps(container->args) :
                               NULL;
        name = find_name(container, stem);
        return pick_args(container, name);
}

char *user_namespace_of_network(const Container *container) {
        const char *mode = container->args->userns;
        g_autofree char *stem = find_stem(container), *service = NULL;

        if (is_path(mode))
                return g_strdup(mode + strlen("ns:"));
        service = user_namespace_service(container);
        return service ? g_build_filename(PATH_USERNS, stem, NULL) : NULL;
}

char *user_namespace_service(const Container *container) {
        g_autofree char *stem = find_stem(container);
        g_autoptr(LaunchArgs) args = find_args(container, stem);

        return args ? g_strdup_printf("keyturn-userns@%s.service", stem) : NULL;
}

/* *ret_name: its path in the generator's directory. NULL where there is nothing to tell. */
static GString *print_dropin(const Container *container, char **ret_name) {
        g_autofree char *stem = find_stem(container), *path = source_path_escape(container->source->path, "%");
        g_autoptr(LaunchArgs) args = find_args(container, stem);
        bool is_kept = !container->network_file || !network_is_renewed(container);
        GString *text;

        if (!args)
                return NULL;
        *ret_name = g_strdup_printf("keyturn-userns@%s.service.d/50-keyturn.conf", stem);
        text = g_string_new("# Made by keyturn-generator; do not edit.\n[Unit]\n");
        g_string_append_printf(text,
                               "SourcePath=%s\nStopWhenUnneeded=no\n%s%s%s\n[Service]\nExecStart=" KEYTURN_LIBDIR
                               "/libstart userns",
                               path, is_kept ? "" : "PartOf=", is_kept ? "" : container->service->name,
                               is_kept ? "" : "\n");
        unit_words_add(text, stem);
        launch_args_append(args, text);
        g_string_append_c(text, '\n');
        return text;
}

void user_namespace_write(const Container *container, Writer *writer) {
        g_autofree char *name = NULL;
        g_autoptr(GString) dropin = print_dropin(container, &name);

        if (dropin)
                writer_put_file(writer, container->source->path, name, container->source->unit->readers, dropin);
}

void user_namespace_finish(Container *container) {
        LaunchArgs *args = container->args;
        g_autoptr(GError) error = NULL;

        if (container->remap->len > 0 && (args->userns || has_maps(args)))
                container_problem(container, remap_line(container),
                                  "UserNS=, UIDMap= and their like are given, too; remove the Remap keys");
        else if (container->remap->len > 0 && !remap(container, &error))
                container_problem(container, remap_line(container), "%s", error->message);
}
