/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/files/names.h"
#include "generator/parts/network-renewal.h"
#include "generator/parts/user-namespace.h"
#include "generator/unit/own-name.h"
#include "generator/unit/specifiers.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/paths.h"
#include "libstart/value/unit-words.h"

/* Which one is read is known by the option that the new keys have for it. */
bool handle_remap(Conversion *container, const Key *key, const Value *value, GError **error) {
        guint64 size;

        if (g_str_equal(key->name, "RemapUidSize") &&
            !g_ascii_string_to_unsigned(value->text, 10, 0, G_MAXUINT32, &size, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no number of ids", value->text);
        g_ptr_array_add(container->remap, g_strdup_printf("%s=%s", key->text, value->text));
        return true;
}

/* The values of one key; of a key that has one value, the last is it. */
static GPtrArray *find_values(const Conversion *container, const char *name) {
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

static bool add_maps(Conversion *container, const char *option, const GPtrArray *values, GError **error) {
        for (guint i = 0; i < values->len; i++)
                if (!key_set_option(container, option, values->pdata[i], error))
                        return false;
        return true;
}

/* As Podman's Quadlet has it. */
static bool remap(Conversion *container, GError **error) {
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

static bool has_ids(const LaunchArgs *args) {
        return has_maps(args) || args->owner || args->dynamic_user == FLAG_TRUE;
}

static bool is_path(const char *mode) {
        return mode && g_str_has_prefix(mode, "ns:");
}

/* Nothing but these specifiers, and no variables. */
static bool has_only(const char *value, const char *letters) {
        for (const char *c = value; *c; c++)
                if (*c == '$' || (*c == '%' && (!c[1] || !strchr(letters, *++c))))
                        return false;
        return true;
}

/* As specifiers of the user, the machine and its directories are. */
#define SAME_EVERYWHERE "%CDEGHLSTUVabghlmostuvw"

bool user_namespace_may_be_own(const LaunchArgs *args) {
        return has_ids(args) || (args->userns && args->userns[0] && !g_str_equal(args->userns, "host"));
}

bool user_namespace_is_own(const LaunchArgs *args) {
        const char *mode = args->userns ?: "";

        return has_ids(args) || (user_namespace_may_be_own(args) &&
                                 (is_path(mode) || (mode[0] != '%' && has_only(mode, SAME_EVERYWHERE))));
}

static const UnitLine *remap_line(const Conversion *container) {
        static const char *const keys[] = { "RemapUsers", "RemapUid", "RemapGid", "RemapUidSize" };
        const UnitLine *line = NULL;

        for (size_t i = 0; !line && i < G_N_ELEMENTS(keys); i++)
                line = conversion_line(container, container->section, keys[i]);
        return line;
}

/* In the unit of another kind, too. Of a user's, specifiers of the service's name are replaced. */
static bool is_known(const Conversion *container, const char *value) {
        return value && has_only(value, container->is_users ? SAME_EVERYWHERE "INijnp" : SAME_EVERYWHERE);
}

static bool are_known(const Conversion *container, const GPtrArray *values) {
        for (guint i = 0; i < values->len; i++)
                if (!is_known(container, values->pdata[i]))
                        return false;
        return true;
}

static void copy(GPtrArray *to, const GPtrArray *from, const OwnName *own) {
        for (guint i = 0; i < from->len; i++)
                g_ptr_array_add(to, own_name_replace(from->pdata[i], own));
}

static char *replace(const char *text, const OwnName *own) {
        return text ? own_name_replace(text, own) : NULL;
}

/* Beside what says which ids there are. */
static bool is_rest_known(const Conversion *container, bool of_image) {
        const LaunchArgs *args = container->args;

        if (!is_known(container, args->subuidname ?: "") || !is_known(container, args->subgidname ?: ""))
                return false;
        if (of_image)
                return (g_str_equal(args->name, "systemd-%N") || is_known(container, args->name)) &&
                       is_known(container, args->user ?: "") && is_known(container, args->image) &&
                       are_known(container, args->storage_opt);
        return is_known(container, args->owner ?: "");
}

/* The words of the container that its ids depend on; NULL as in user_namespace_service(). */
static LaunchArgs *pick_args(const Conversion *container, const OwnName *own, bool of_image) {
        const LaunchArgs *from = container->args;
        LaunchArgs *args;

        if (!is_known(container, from->userns ?: "") || !are_known(container, from->uidmaps) ||
            !are_known(container, from->gidmaps) || !is_rest_known(container, of_image))
                return NULL;
        args = launch_args_new();
        args->userns = replace(from->userns, own);
        copy(args->uidmaps, from->uidmaps, own);
        copy(args->gidmaps, from->gidmaps, own);
        args->subuidname = replace(from->subuidname, own);
        args->subgidname = replace(from->subgidname, own);
        args->runtime = g_strdup(from->runtime);
        args->image = of_image ? own_name_replace(from->image, own) : g_strdup("-");
        if (of_image) {
                args->name = own_name_replace(from->name, own);
                args->user = replace(from->user, own);
                args->rootfs = from->rootfs;
                copy(args->storage_opt, from->storage_opt, own);
        } else {
                args->owner = g_strdup(from->owner);
                args->dynamic_user = from->dynamic_user;
        }
        return args;
}

/* A service whose directory is named otherwise has no use of it (files/names.h), and root's instances have none. */
static bool can_be_ahead(const Conversion *container) {
        const char *service = container->service->name;

        return (container->is_users || !name_has_at(service)) && !strchr(name_state_directory(service), '+');
}

static LaunchArgs *find_args(const Conversion *container, const OwnName *own) {
        const char *mode = container->args->userns;
        bool of_image = mode && is_auto(mode) && !g_str_has_suffix(container->source->name, ".pod");

        if (!can_be_ahead(container))
                return NULL;
        if (!of_image && (!container->network.file || is_path(mode) ||
                          !(container->is_users || user_namespace_is_own(container->args))))
                return NULL;
        return pick_args(container, own, of_image);
}

static LaunchArgs *find_copy_args(const Conversion *container, const OwnName *own) {
        if (!container->is_users || container->args->rootfs == FLAG_TRUE || !user_namespace_is_own(container->args) ||
            !can_be_ahead(container) || (is_path(container->args->userns) && !container->pod.has_ids))
                return NULL;
        return pick_args(container, own, true);
}

/* NULL where there is none. Transfer full. */
static char *find_unit(const Conversion *container, const char *kind,
                       LaunchArgs *(*find)(const Conversion *, const OwnName *) ) {
        g_auto(OwnName) own = { 0 };
        g_autoptr(LaunchArgs) args = NULL;

        own_name_find(container->service->name, &own);
        args = find(container, &own);
        return args ? own_name_unit(&own, kind) : NULL;
}

char *user_namespace_copier(const Conversion *container) {
        return find_unit(container, "copy", find_copy_args);
}

char *user_namespace_of_network(const Conversion *container) {
        const char *mode = container->args->userns;
        g_autofree char *service = NULL;
        g_auto(OwnName) own = { 0 };

        if (is_path(mode))
                return g_strdup(mode + strlen("ns:"));
        own_name_find(container->service->name, &own);
        service = user_namespace_service(container);
        return service ? g_build_filename(PATH_USERNS, own.full, NULL) : NULL;
}

char *user_namespace_service(const Conversion *container) {
        return find_unit(container, "userns", find_args);
}

/* Of an instance it is all of the unit, but for what is shipped for these. */
static GString *begin_unit(const Conversion *container, const OwnName *own, const char *description) {
        g_autofree char *path = specifiers_escape(container->source->path, "%");
        GString *text = g_string_new(WRITER_HEAD "[Unit]\n");

        if (own_name_has_instance(own))
                g_string_append_printf(text, "Description=%s %s\n", description, own->full);
        g_string_append_printf(text, "SourcePath=%s\n", path);
        return text;
}

/* key: with what comes before the program. */
static void add_command(GString *text, const char *key, const char *command, const OwnName *own,
                        const LaunchArgs *args) {
        g_string_append_printf(text, "%s" KEYTURN_LIBDIR "/libstart %s", key, command);
        unit_words_add(text, own->full);
        if (args)
                launch_args_append(args, text);
        g_string_append_c(text, '\n');
}

/* NULL where there is nothing to tell. Those of instances go with them. */
static GString *print_dropin(const Conversion *container, const OwnName *own) {
        g_autoptr(LaunchArgs) args = find_args(container, own);
        bool is_kept = !container->network.file || !network_is_renewed(container);
        GString *text;

        if (!args)
                return NULL;
        text = begin_unit(container, own, "User namespace of");
        if (!own_name_has_instance(own))
                g_string_append(text, "StopWhenUnneeded=no\n");
        if (!is_kept)
                g_string_append_printf(text, "PartOf=%s.service\n", own->full);
        g_string_append(text, "\n[Service]\n");
        add_command(text, "ExecStart=", "userns", own, args);
        if (own_name_has_instance(own))
                add_command(text, "ExecStop=", "userns --unpin", own, NULL);
        return text;
}

/* After what brings the image, and what finds the ids. */
static GString *print_copy_dropin(const Conversion *container, const OwnName *own) {
        g_autofree char *userns = user_namespace_service(container);
        g_autoptr(LaunchArgs) args = find_copy_args(container, own);
        const char *image = container->args->image_unit, *colon = image ? strchr(image, ':') : NULL;
        GString *text;

        if (!args)
                return NULL;
        text = begin_unit(container, own, "Copy of the Image for the Ids of");
        if (image) {
                g_autofree char *bringer = own_name_replace(colon ? colon + 1 : image, own);

                g_string_append_printf(text, "After=%s\n", bringer);
        }
        if (userns)
                g_string_append_printf(text, "After=%s\n", userns);
        if (container->pod.has_ids)
                g_string_append_printf(text, "After=%s\n", container->pod.service);
        g_string_append(text, "\n[Service]\n");
        add_command(text, "ExecStart=", "copy", own, args);
        if (own_name_has_instance(own))
                add_command(text, "ExecStopPost=-", "copy --forget", own, NULL); /* the view may have ended */
        return text;
}

static void write_ahead(const Conversion *container, const char *kind,
                        GString *(*print)(const Conversion *, const OwnName *), Writer *writer) {
        g_auto(OwnName) own = { 0 };
        g_autofree char *name = NULL;
        g_autoptr(GString) text = NULL;

        own_name_find(container->service->name, &own);
        name = own_name_file(&own, kind, "50-keyturn.conf");
        text = print(container, &own);
        if (text)
                writer_put_file(writer, container->source->path, name, container->source->unit->readers, text);
}

void user_namespace_write(const Conversion *container, Writer *writer) {
        write_ahead(container, "userns", print_dropin, writer);
        write_ahead(container, "copy", print_copy_dropin, writer);
}

/* Files from before UserNS= have RemapUsers=, and some the option, too. */
static bool is_remap_again(const Conversion *container) {
        g_autoptr(GPtrArray) users = find_values(container, "users");

        return container->remap->len == 1 && users->len == 1 && !has_maps(container->args) &&
               g_strcmp0(users->pdata[0], container->args->userns) == 0;
}

void user_namespace_finish(Conversion *container) {
        LaunchArgs *args = container->args;
        g_autoptr(GError) error = NULL;

        if (is_remap_again(container))
                return;
        if (container->remap->len > 0 && (args->userns || has_maps(args)))
                conversion_problem(container, remap_line(container),
                                   "UserNS=, UIDMap= and their like are given, too; remove the Remap keys");
        else if (container->remap->len > 0 && !remap(container, &error))
                conversion_problem(container, remap_line(container), "%s", error->message);
}
