/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/handlers.h"
#include "libstart/base/error.h"

/* launch-args names the option in its errors; here it is the key that the user knows. */
static void strip_option(GError *error, const char *option) {
        g_autofree char *prefix = g_strdup_printf("--%s: ", option);

        if (error && g_str_has_prefix(error->message, prefix))
                memmove(error->message, error->message + strlen(prefix), strlen(error->message + strlen(prefix)) + 1);
}

static bool set_named(Container *container, const char *option, const char *value, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (launch_args_set(container->args, option, value, &problem))
                return true;
        strip_option(problem, option);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
}

bool set_option(Container *container, const Key *key, const Value *value, GError **error) {
        return set_named(container, key->text, value->text, error);
}

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
        return set_named(container, "user", value->text, error);
}

bool handle_group(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->group, value->text);
        container->group_line = value->line;
        return true;
}

bool handle_image(Container *container, const Key *key, const Value *value, GError **error) {
        set_string(&container->image, value->text);
        if (g_str_has_suffix(value->text, ".image") || g_str_has_suffix(value->text, ".build"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s' is a unit that pulls or builds, which keyturn does not do: name the image",
                                 value->text);
        return true;
}

/* DIR[:O]; what systemd expands is left for libstart to check. */
bool handle_rootfs(Container *container, const Key *key, const Value *value, GError **error) {
        const char *colon = strchr(value->text, ':');

        set_string(&container->rootfs, value->text);
        if (strpbrk(value->text, "%$"))
                return true;
        if (value->text[0] != '/')
                return error_set(error, KT_ERROR_USAGE, "'%s' is not an absolute path", value->text);
        if (colon && !g_str_equal(colon, ":O"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': the only option is ':O' (an overlay keeps the directory as it is)", colon);
        return true;
}

bool handle_network(Container *container, const Key *key, const Value *value, GError **error) {
        const char *network = value->text;

        if (g_str_has_prefix(network, "ns:") || g_str_has_suffix(network, ".container") ||
            g_str_has_prefix(network, "container:"))
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "'%s': joining another network namespace is not in this version of keyturn; use "
                                 "host or none",
                                 network);
        if (container->has_network && g_strcmp0(container->args->network, network) != 0)
                return error_set(error, KT_ERROR_USAGE, "the network is '%s' already; a container has one",
                                 container->args->network);
        container->has_network = true;
        return set_named(container, "network", network, error);
}

bool handle_no_new_privileges(Container *container, const Key *key, const Value *value, GError **error) {
        if (g_str_equal(value->text, "false"))
                return true;
        return set_named(container, "security-opt", "no-new-privileges", error);
}

/* Mask= and Unmask=; key->text says which. */
bool handle_mask(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat(key->text, "=", value->text, NULL);

        return set_named(container, "security-opt", option, error);
}

bool handle_notify(Container *container, const Key *key, const Value *value, GError **error) {
        bool notify;

        if (g_ascii_strcasecmp(value->text, "healthy") == 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "health checks are not in this version of keyturn; use yes where the payload itself "
                                 "says READY=1, else no");
        if (!value_parse_boolean(value->text, &notify, error))
                return false;
        return !notify || set_named(container, "sdnotify", "container", error);
}

bool handle_podman_args(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->extra, g_strdup(value->text));
        container->extra_line = value->line;
        return true;
}

bool handle_publish_port(Container *container, const Key *key, const Value *value, GError **error) {
        g_ptr_array_add(container->published, (void *) value->line);
        return true;
}

/* A key that is right to give, and that does its work elsewhere or has none to do. */
bool handle_nothing(Container *container, const Key *key, const Value *value, GError **error) {
        return true;
}

bool handle_seccomp_profile(Container *container, const Key *key, const Value *value, GError **error) {
        g_autofree char *option = g_strconcat("seccomp=", value->text, NULL);

        return !value->text[0] || set_named(container, "security-opt", option, error);
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
