/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/user-namespace.h"
#include "libstart/base/error.h"

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

static bool has_maps(const LaunchArgs *args) {
        return args->uidmaps->len > 0 || args->gidmaps->len > 0 || args->subuidname || args->subgidname;
}

static const UnitLine *find_line(const Container *container, const char *const *keys) {
        const UnitLine *line = NULL;

        for (; !line && *keys; keys++)
                line = container_line(container, "Container", *keys);
        return line;
}

void user_namespace_finish(Container *container) {
        static const char *const old_keys[] = { "RemapUsers", "RemapUid", "RemapGid", "RemapUidSize", NULL };
        static const char *const new_keys[] = { "UserNS",    "UIDMap",     "GIDMap", "SubUIDMap",
                                                "SubGIDMap", "PodmanArgs", NULL };
        LaunchArgs *args = container->args;
        g_autoptr(GError) error = NULL;

        if (container->remap->len > 0 && (args->userns || has_maps(args)))
                container_problem(container, find_line(container, old_keys),
                                  "UserNS=, UIDMap= and their like are given, too; remove the Remap keys");
        else if (container->remap->len > 0 && !remap(container, &error))
                container_problem(container, find_line(container, old_keys), "%s", error->message);
        else if (args->userns && args->userns[0] && has_maps(args))
                container_problem(
                        container, find_line(container, new_keys),
                        "excludes UIDMap=, GIDMap=, SubUIDMap= and SubGIDMap=: remove the one or the others");
}
