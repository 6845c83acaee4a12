/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "generator/parts/conf-module.h"
#include "generator/unit/keys.h"
#include "generator/unit/specifiers.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/config/toml.h"
#include "libstart/value/unit-words.h"

typedef struct Module {
        Conversion *container;
        const UnitLine *line; /* that names it */
        char *path;
        GHashTable *seen; /* of ModuleSetting: a later module says it */
} Module;

typedef struct ModuleSetting ModuleSetting;

struct ModuleSetting {
        const char *table, *name;
        TomlType type;
        bool (*apply)(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error);
        const char *key;    /* of [Container], that means the same; or NULL */
        size_t field;       /* in LaunchArgs: given where it is set */
        const char *option; /* of libstart, where there is no key; of security_opt, its name */
        enum { IN_CONTAINERS, IN_PODS, OF_NETWORK, OF_SHM } scope;
};

bool handle_conf_module(Conversion *container, const Key *key, const Value *value, GError **error) {
        if (unit_word_is_unexpanded(value->text))
                return error_set(error, KT_ERROR_USAGE,
                                 "'%s': specifiers and variables do not work here: the file is read when units are "
                                 "generated",
                                 value->text);
        noted_add(container->podman.modules, value->text, value->line);
        return true;
}

/*
 * What a setting does
 */

static bool apply_key(const Module *module, const ModuleSetting *setting, const char *text, GError **error) {
        g_autofree char *escaped = specifiers_escape(text, "%$");

        if (!setting->key)
                return key_set_option(module->container, setting->option, escaped, error);
        return keys_apply_value(module->container, setting->key, escaped, module->line, error);
}

static void *find_field(const Module *module, const ModuleSetting *setting) {
        return (char *) module->container->args + setting->field;
}

static bool apply_flag(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error) {
        return *(LaunchFlag *) find_field(module, setting) != FLAG_UNSET ||
               apply_key(module, setting, value->boolean ? "true" : "false", error);
}

static bool apply_string(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error) {
        return *(char **) find_field(module, setting) || !value->string[0] ||
               apply_key(module, setting, value->string, error);
}

static bool has_security(const Module *module, const ModuleSetting *setting) {
        return launch_args_last(module->container->args->security_opt, setting->option);
}

static bool apply_security(const Module *module, const ModuleSetting *setting, const TomlValue *value,
                           GError **error) {
        return has_security(module, setting) || !value->string[0] || apply_key(module, setting, value->string, error);
}

static bool apply_label(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error) {
        module->container->podman.keeps_label = value->boolean;
        return value->boolean || has_security(module, setting) || apply_key(module, setting, "true", error);
}

/* {append=true}: what is there already stays. */
static bool is_append(const TomlValue *item) {
        const TomlValue *append = toml_get(item, "append");

        return append && append->type == TOML_BOOLEAN;
}

static bool find_append(const TomlValue *list) {
        for (guint i = 0; i < list->array->len; i++)
                if (is_append(list->array->pdata[i]))
                        return toml_get(list->array->pdata[i], "append")->boolean;
        return false;
}

/* Then the pod's file says what is the network's. */
static bool has_pods_network(const Conversion *container) {
        return container->pod.file && !container->network.is_said && container->args->network;
}

/* A setting of the network that is the pod's: Podman leaves it out, too. */
static bool is_pods(const Module *module, const ModuleSetting *setting, const char *text) {
        return setting->scope == IN_PODS && g_str_has_prefix(text, "net.") && has_pods_network(module->container);
}

/* In front of the container's own, so that those count. */
static bool apply_list(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error) {
        GPtrArray *list = *(GPtrArray **) find_field(module, setting);
        guint own = list->len;

        for (guint i = 0; i < value->array->len; i++) {
                const TomlValue *item = value->array->pdata[i];

                if (item->type == TOML_STRING && !is_pods(module, setting, item->string) &&
                    !apply_key(module, setting, item->string, error))
                        return false;
        }
        for (guint i = 0; own + i < list->len; i++)
                g_ptr_array_insert(list, (int) i, g_ptr_array_steal_index(list, own + i));
        return true;
}

/* One that the file says takes the place of all. */
static bool apply_default_list(const Module *module, const ModuleSetting *setting, const TomlValue *value,
                               GError **error) {
        return (*(GPtrArray **) find_field(module, setting))->len > 0 || apply_list(module, setting, value, error);
}

static bool apply_hooks(const Module *module, const ModuleSetting *setting, const TomlValue *value, GError **error) {
        char **directories = g_new0(char *, value->array->len + 1);

        g_strfreev(module->container->podman.hook_dirs);
        module->container->podman.hook_dirs = directories;
        for (guint i = 0; i < value->array->len; i++) {
                const TomlValue *item = value->array->pdata[i];

                if (item->type != TOML_STRING || item->string[0] != '/')
                        return error_set(error, KT_ERROR_UNSUPPORTED, "write the absolute paths of all directories");
                directories[i] = g_strdup(item->string);
        }
        return true;
}

#define FIELD(name) offsetof(LaunchArgs, name)

static const ModuleSetting settings[] = {
        { "containers", "annotations", TOML_ARRAY, apply_list, "Annotation", FIELD(annotations), NULL,
          IN_CONTAINERS },
        { "containers", "apparmor_profile", TOML_STRING, apply_security, "AppArmor", 0, "apparmor", IN_CONTAINERS },
        { "containers", "default_sysctls", TOML_ARRAY, apply_list, NULL, FIELD(sysctls), "sysctl", IN_PODS },
        { "containers", "default_ulimits", TOML_ARRAY, apply_list, "Ulimit", FIELD(ulimits), NULL, IN_CONTAINERS },
        { "containers", "dns_options", TOML_ARRAY, apply_default_list, "DNSOption", FIELD(dns_option), NULL,
          OF_NETWORK },
        { "containers", "dns_searches", TOML_ARRAY, apply_default_list, "DNSSearch", FIELD(dns_search), NULL,
          OF_NETWORK },
        { "containers", "dns_servers", TOML_ARRAY, apply_default_list, "DNS", FIELD(dns), NULL, OF_NETWORK },
        { "containers", "http_proxy", TOML_BOOLEAN, apply_flag, "HttpProxy", FIELD(http_proxy), NULL, IN_CONTAINERS },
        { "containers", "init", TOML_BOOLEAN, apply_flag, "RunInit", FIELD(init), NULL, IN_CONTAINERS },
        { "containers", "label", TOML_BOOLEAN, apply_label, "SecurityLabelDisable", 0, "label", IN_CONTAINERS },
        { "containers", "read_only", TOML_BOOLEAN, apply_flag, "ReadOnly", FIELD(read_only), NULL, IN_CONTAINERS },
        { "containers", "seccomp_profile", TOML_STRING, apply_security, "SeccompProfile", 0, "seccomp",
          IN_CONTAINERS },
        { "containers", "shm_size", TOML_STRING, apply_string, "ShmSize", FIELD(shm_size), NULL, OF_SHM },
        { "containers", "tz", TOML_STRING, apply_string, "Timezone", FIELD(timezone), NULL, IN_CONTAINERS },
        { "containers", "umask", TOML_STRING, apply_string, "Umask", FIELD(umask), NULL, IN_CONTAINERS },
        { "engine", "hooks_dir", TOML_ARRAY, apply_hooks, NULL, 0, NULL, IN_CONTAINERS },
};

/*
 * From a file to its settings
 */

static bool check_type(const ModuleSetting *setting, const TomlValue *value, GError **error) {
        const char *wanted = setting->type == TOML_STRING  ? "string" :
                             setting->type == TOML_BOOLEAN ? "boolean" :
                                                             "array of strings";
        bool is_right = value->type == setting->type;

        for (guint i = 0; is_right && value->type == TOML_ARRAY && i < value->array->len; i++) {
                const TomlValue *item = value->array->pdata[i];

                is_right = item->type == TOML_STRING || is_append(item);
        }
        return is_right || error_set(error, KT_ERROR_USAGE, "it is no %s", wanted);
}

/* What the containers of a pod have in common is said by its file. The rest of a pod, all of a volume or a network,
 * is as with Podman, where such a setting is of containers: it has known settings only, and they do nothing. */
static bool has_setting(const Conversion *container, const ModuleSetting *setting) {
        const LaunchArgs *args = container->args;

        if (setting->scope == OF_NETWORK && (has_pods_network(container) || g_strcmp0(args->network, "none") == 0))
                return false;
        if (g_str_equal(container->section, "Pod"))
                return setting->scope != IN_CONTAINERS;
        return g_str_equal(container->section, "Container") && !(setting->scope == OF_SHM && args->shm_path);
}

/* What is not known might protect the container. */
static bool apply(const Module *module, const char *table, const char *name, const TomlValue *value, GError **error) {
        const ModuleSetting *setting = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(settings) && !setting; i++)
                if (g_str_equal(settings[i].table, table) && g_str_equal(settings[i].name, name))
                        setting = &settings[i];
        if (!setting)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "not read from a module: write a key of this file instead, or remove the setting");
        if (!check_type(setting, value, error))
                return false;
        if (!has_setting(module->container, setting))
                return true;
        if (g_hash_table_contains(module->seen, setting))
                return true;
        if (value->type != TOML_ARRAY || !find_append(value))
                g_hash_table_add(module->seen, (void *) setting);
        return setting->apply(module, setting, value, error);
}

static int compare_lines(const void *a, const void *b, void *table) {
        unsigned left = toml_get(table, *(const char *const *) a)->line,
                 right = toml_get(table, *(const char *const *) b)->line;

        return (left > right) - (left < right);
}

/* In the order of the file. Transfer container. */
static char **find_names(const TomlValue *table) {
        guint n;
        char **names = (char **) g_hash_table_get_keys_as_array(table->table, &n);

        g_qsort_with_data(names, (int) n, sizeof *names, compare_lines, (void *) table);
        return names;
}

static void apply_table(const Module *module, const char *name, const TomlValue *table) {
        g_autofree char **keys = find_names(table);

        for (char **key = keys; *key; key++) {
                const TomlValue *value = toml_get(table, *key);
                g_autoptr(GError) error = NULL;

                if (!apply(module, name, *key, value, &error))
                        conversion_problem(module->container, module->line, "%s:%u: '%s' of [%s]: %s", module->path,
                                           value->line, *key, name, error->message);
        }
}

static void apply_all(const Module *module, const TomlValue *top) {
        g_autofree char **names = find_names(top);

        for (char **name = names; *name; name++) {
                const TomlValue *value = toml_get(top, *name);

                if (value->type == TOML_TABLE)
                        apply_table(module, *name, value);
                else
                        conversion_problem(module->container, module->line,
                                           "%s:%u: '%s' is in no table of "
                                           "containers.conf(5)",
                                           module->path, value->line, *name);
        }
}

#define BELOW "containers/containers.conf.modules"

/* The user's own come first, as with Podman. Transfer full. */
static GPtrArray *find_directories(const KeyturnConf *conf) {
        GPtrArray *directories = g_ptr_array_new_with_free_func(g_free);
        char *own = keyturn_conf_is_users(conf) ? specifiers_file_path("/", "%E/" BELOW, NULL) : NULL;

        if (own)
                g_ptr_array_add(directories, own);
        g_ptr_array_add(directories, g_strdup("/etc/" BELOW));
        g_ptr_array_add(directories, g_strdup("/usr/share/" BELOW));
        return directories;
}

/* *ret_path: where it is, or was looked for last. */
static int open_module(const KeyturnConf *conf, const char *name, char **ret_path) {
        g_autoptr(GPtrArray) directories = find_directories(conf);
        const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY;
        int fd = -1;

        if (name[0] == '/') {
                *ret_path = g_strdup(name);
                return tree_open_path(keyturn_conf_tree(conf), name, flags);
        }
        for (guint i = 0; i < directories->len; i++) {
                g_free(*ret_path);
                *ret_path = g_build_filename(directories->pdata[i], name, NULL);
                fd = tree_open_path(keyturn_conf_tree(conf), *ret_path, flags);
                if (fd >= 0 || errno != ENOENT)
                        break;
        }
        return fd;
}

static TomlValue *read_module(Conversion *container, const char *name, char **ret_path, GError **error) {
        _cleanup_close_ int fd = open_module(container->conf, name, ret_path);
        g_autofree char *text = NULL;
        size_t length;

        if (fd < 0)
                return error_null_errno(error, errno, "Cannot open '%s'", *ret_path);
        if (!tree_read(fd, &text, &length, &container->source->unit->readers, error))
                return error_prefix_null(error, "Cannot read '%s': ", *ret_path);
        return toml_parse(text, length, *ret_path, error);
}

void conf_modules_finish(Conversion *container) {
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);

        for (guint i = container->podman.modules->len; i > 0; i--) {
                const Noted *noted = &g_array_index(container->podman.modules, Noted, i - 1);
                Module module = { container, noted->line, NULL, seen };
                g_autoptr(GError) error = NULL;
                g_autoptr(TomlValue) top = read_module(container, noted->text, &module.path, &error);

                if (top)
                        apply_all(&module, top);
                else
                        conversion_problem(container, noted->line, "%s", error->message);
                g_free(module.path);
        }
}
