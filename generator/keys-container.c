/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/images.h"
#include "generator/keys-container.h"
#include "libstart/base/error.h"

static void set_string(char **field, const char *value) {
        g_free(*field);
        *field = g_strdup(value);
}

bool handle_exec(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->args->command, g_strdup(value->text));
        return true;
}

bool handle_user(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->user, value->text);
        return key_set_option(container, "user", value->text, error);
}

bool handle_group(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->group, value->text);
        return true;
}

bool handle_image(Container *container, const Key *key, const Value *value, GError **error) {
        container->is_image_made = g_str_has_suffix(value->text, ".image") || g_str_has_suffix(value->text, ".build");
        g_free(container->image);
        container->image = container->is_image_made ? image_refer(container, value->text, error) : NULL;
        if (container->image)
                return true;
        container->image = g_strdup(value->text);
        return !container->is_image_made;
}

/* DIR[:O|:idmap]; what systemd expands is left for libstart to check. */
bool handle_rootfs(Container *container, const Key *key, const Value *value, GError **error) {
        const char *colon = strchr(value->text, ':');

        set_string(&container->rootfs, value->text);
        if (strpbrk(value->text, "%$"))
                return true;
        if (value->text[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an absolute path", value->text);
        if (colon && !g_str_equal(colon, ":O") && !g_str_equal(colon, ":idmap"))
                return error_set(
                        error, KT_ERROR_UNSUPPORTED,
                        "'%s': the only options are ':O' (an overlay keeps the directory as it is) and ':idmap' "
                        "(owners as in the user namespace)",
                        colon);
        return true;
}

bool handle_no_new_privileges(Container *container, const Key *key, const Value *value, GError **error) {
        if (g_str_equal(value->text, "false"))
                return true;
        return key_set_option(container, "security-opt", "no-new-privileges", error);
}

/* Mask= and Unmask=; key->text says which. */
bool handle_mask(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, "=", value->text, NULL);

        return key_set_option(container, "security-opt", option, error);
}

bool handle_notify(Container *container, const Key *key, const Value *value, GError **error) {
        bool notify;

        if (g_ascii_strcasecmp(value->text, "healthy") == 0)
                return key_set_option(container, "sdnotify", "healthy", error);
        if (!key_parse_boolean(value->text, &notify, error))
                return false;
        return !notify || key_set_option(container, "sdnotify", "container", error);
}

bool handle_podman_args(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->podman_args, g_strdup(value->text));
        g_ptr_array_add(container->podman_lines, (void *) value->line);
        return true;
}

bool handle_global_args(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->global_args, g_strdup(value->text));
        g_ptr_array_add(container->global_lines, (void *) value->line);
        return true;
}

/* The key is valid, but there is nothing to do here. */
bool handle_nothing(Container *container, const Key *key, const Value *value, GError **error) {
        return true;
}

bool handle_seccomp_profile(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat("seccomp=", value->text, NULL);

        return !value->text[0] || key_set_option(container, "security-opt", option, error);
}

static bool set_label(Container *container, const char *part, const char *value, GError **error) {
        g_autofree char *option = g_strconcat("label=", part, value, NULL);

        return key_set_option(container, "security-opt", option, error);
}

/* SecurityLabelDisable= and SecurityLabelNested=; key->text is the option's word. */
bool handle_label_flag(Container *container, const Key *key, const Value *value, GError **error) {
        return g_str_equal(value->text, "false") || set_label(container, key->text, "", error);
}

/* The other SecurityLabel...= keys; key->text is the part of a label. */
bool handle_label_part(Container *container, const Key *key, const Value *value, GError **error) {
        return !value->text[0] || set_label(container, key->text, value->text, error);
}

/* The profile is loaded by then: it matters to services that come before basic.target. */
bool handle_apparmor(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat("apparmor=", value->text, NULL);

        if (!value->text[0])
                return true;
        service_unit(container->service, "After", "apparmor.service");
        return key_set_option(container, "security-opt", option, error);
}

bool handle_stop_timeout(Container *container, const Key *key, const Value *value, GError **error) {
        gint64 seconds;

        if (!g_ascii_string_to_signed(value->text, 10, -1, G_MAXINT32, &seconds, NULL))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s' is no number of seconds (-1: wait for ever; specifiers do not work here)",
                                 value->text);
        g_free(container->stop_timeout);
        container->stop_timeout = g_strdup_printf("%" G_GINT64_FORMAT, seconds);
        return true;
}

/* Out of use in Podman, which still takes it. */
bool handle_volatile_tmp(Container *container, const Key *key, const Value *value, GError **error) {
        container->volatile_tmp = g_str_equal(value->text, "true");
        return true;
}

static void finish_image(Container *container) {
        LaunchArgs *args = container->args;

        if (container->image && container->rootfs)
                container_problem(container, container_line(container, "Container", "Rootfs"),
                                  "Image= is given, too; remove one of the two");
        else if (!container->image && !container->rootfs) {
                if (container->source->unit->problems->len == 0) /* else it may be in a line that cannot be read */
                        container_problem(container, NULL, "Image= or Rootfs= must be given");
        } else {
                args->rootfs = container->rootfs ? FLAG_TRUE : FLAG_UNSET;
                args->image = g_strdup(container->rootfs ? container->rootfs : container->image);
        }
}

static void finish_user(Container *container) {
        const UnitLine *line = container_line(container, "Container", "Group");
        g_autofree char *both = NULL;
        g_autoptr(GError) error = NULL;

        if (!container->group)
                return;
        if (!container->user) {
                container_problem(container, line, "User= must be given, too");
                return;
        }
        both = g_strconcat(container->user, ":", container->group, NULL);
        if (!launch_args_set(container->args, "user", both, &error))
                container_problem(container, line, "%s", error->message);
}

/* With ReadOnly=, /tmp is a tmpfs anyway. */
static void finish_volatile_tmp(Container *container) {
        if (container->volatile_tmp && container->args->read_only != FLAG_TRUE)
                (void) launch_args_set(container->args, "tmpfs", "/tmp:rw,size=512M,mode=1777", NULL);
}

void keys_container_finish(Container *container) {
        finish_image(container);
        finish_user(container);
        finish_volatile_tmp(container);
}
