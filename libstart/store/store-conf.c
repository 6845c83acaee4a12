/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/base/user-view.h"
#include "libstart/config/conf-value.h"
#include "libstart/config/small-file.h"
#include "libstart/config/toml.h"
#include "libstart/store/store-conf.h"

typedef struct Setting {
        const char *table; /* by its dotted name */
        const char *key;
        bool (*apply)(void *member, const TomlValue *value, char **variables, const char *where, GError **error);
        size_t member; /* of StoreSettings */
} Setting;

StoreSettings *store_settings_new(void) {
        StoreSettings *settings = g_new0(StoreSettings, 1);

        settings->graph_root = g_strdup(STORE_SETTINGS_GRAPH_ROOT);
        settings->image_store = g_strdup("");
        settings->additional_stores = g_new0(char *, 1);
        return settings;
}

void store_settings_free(StoreSettings *settings) {
        if (!settings)
                return;
        g_free(settings->graph_root);
        g_free(settings->image_store);
        g_strfreev(settings->additional_stores);
        g_strfreev(settings->variables);
        g_free(settings->rootless_path);
        g_free(settings);
}

static bool need_string(const TomlValue *value, const char *where, GError **error) {
        return value->type == TOML_STRING || error_set(error, KT_ERROR_FAILED, "%s must be a string", where);
}

static bool append_variable(GString *path, const char **text, char **variables) {
        bool braces = (*text)[1] == '{';
        const char *name = *text + 1 + braces;
        size_t length = strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_");
        g_autofree char *copy = g_strndup(name, length);
        const char *value = g_environ_getenv(variables, copy);

        if (!value || (braces && name[length] != '}'))
                return false;
        g_string_append(path, value);
        *text = name + length + braces;
        return true;
}

/* NULL: there is a variable that has no value. */
static char *expand(const char *text, char **variables) {
        g_autoptr(GString) path = g_string_new(NULL);

        while (*text)
                if (*text != '$')
                        g_string_append_c(path, *text++);
                else if (!append_variable(path, &text, variables))
                        return NULL;
        return g_string_free(g_steal_pointer(&path), FALSE);
}

/* variables: NULL where it may have none. */
static char *parse_path(const TomlValue *value, char **variables, const char *where, GError **error) {
        g_autofree char *path = NULL;

        if (!need_string(value, where, error))
                return NULL;
        path = !strchr(value->string, '$') ? g_strdup(value->string) :
               variables                   ? expand(value->string, variables) :
                                             NULL;
        if (!path)
                error_set(error, KT_ERROR_UNSUPPORTED,
                          variables ? "%s: '%s' has a variable that is not set; write the path out" :
                                      "%s: variables are not expanded in '%s'; write the path out",
                          where, value->string);
        else if (path[0] != '/')
                error_set(error, KT_ERROR_FAILED, "%s: '%s' is not an absolute path", where, path);
        else
                return path_value_clean(path);
        return NULL;
}

static bool check_driver(void *unused, const TomlValue *value, char **variables, const char *where, GError **error) {
        if (!need_string(value, where, error))
                return false;
        if (*value->string && strcmp(value->string, "overlay") != 0 && strcmp(value->string, "overlay2") != 0)
                return error_set(error, KT_ERROR_UNSUPPORTED,
                                 "%s is '%s', and keyturn can only mount images of the 'overlay' driver", where,
                                 value->string);
        return true;
}

/* Podman takes "" as not set. */
static bool set_root(void *member, const TomlValue *value, char **variables, const char *where, GError **error) {
        char **path = member, *parsed;

        if (value->type == TOML_STRING && !*value->string)
                return true;
        parsed = parse_path(value, variables, where, error);
        if (!parsed)
                return false;
        g_free(*path);
        *path = parsed;
        return true;
}

static bool set_path(void *member, const TomlValue *value, char **variables, const char *where, GError **error) {
        return set_root(member, value, NULL, where, error);
}

/* No matter of root's, whatever it says. */
static bool set_rootless(void *member, const TomlValue *value, char **variables, const char *where, GError **error) {
        return !variables || set_root(member, value, variables, where, error);
}

static bool set_paths(void *member, const TomlValue *value, char **variables, const char *where, GError **error) {
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);

        if (value->type != TOML_ARRAY)
                return error_set(error, KT_ERROR_FAILED, "%s must be an array of strings", where);
        for (unsigned i = 0; i < value->array->len; i++) {
                char *path = parse_path(value->array->pdata[i], NULL, where, error);

                if (!path)
                        return false;
                g_ptr_array_add(paths, path);
        }
        g_ptr_array_add(paths, NULL);
        g_strfreev(*(char ***) member);
        *(char ***) member = (char **) g_ptr_array_free(g_steal_pointer(&paths), FALSE);
        return true;
}

static bool refuse(void *unused, const TomlValue *value, char **variables, const char *where, GError **error) {
        if ((value->type == TOML_STRING && !*value->string) || (value->type == TOML_ARRAY && value->array->len == 0))
                return true;
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "%s is set; keyturn mounts layers with the kernel's overlayfs as they are on disk, and "
                         "that would show other files than podman does",
                         where);
}

static const Setting table[] = {
        { "storage", "driver", check_driver, 0 },
        { "storage", "graphroot", set_root, offsetof(StoreSettings, graph_root) },
        { "storage", "imagestore", set_path, offsetof(StoreSettings, image_store) },
        { "storage", "rootless_storage_path", set_rootless, offsetof(StoreSettings, rootless_path) },
        { "storage.options", "additionalimagestores", set_paths, offsetof(StoreSettings, additional_stores) },
        { "storage.options", "additionallayerstores", refuse, 0 },
        { "storage.options", "imagestore", set_path, offsetof(StoreSettings, image_store) },
        { "storage.options", "mount_program", refuse, 0 },
        { "storage.options", "force_mask", refuse, 0 },
        { "storage.options.overlay", "mount_program", refuse, 0 },
        { "storage.options.overlay", "force_mask", refuse, 0 },
};

/* A table by its dotted name; *ret is NULL where the file does not have it. */
static bool find_table(const TomlValue *top, const char *dotted, const char *name, const TomlValue **ret,
                       GError **error) {
        g_auto(GStrv) keys = g_strsplit(dotted, ".", -1);

        *ret = top;
        for (char **key = keys; *key && *ret; key++) {
                *ret = toml_get(*ret, *key);
                if (*ret && (*ret)->type != TOML_TABLE)
                        return error_set(error, KT_ERROR_FAILED, "%s:%u: '%s' must be a table", name, (*ret)->line,
                                         *key);
        }
        return true;
}

static bool apply_setting(StoreSettings *settings, const Setting *setting, const TomlValue *top, const char *name,
                          GError **error) {
        const TomlValue *parent;

        if (!find_table(top, setting->table, name, &parent, error))
                return false;

        const TomlValue *value = toml_get(parent, setting->key);
        if (!value)
                return true;
        g_autofree char *where = g_strdup_printf("%s:%u: '%s' of [%s]", name, value->line, setting->key,
                                                 setting->table);
        return setting->apply((char *) settings + setting->member, value, settings->variables, where, error);
}

static bool apply_settings(StoreSettings *settings, const char *text, size_t length, const char *name,
                           const char *only, GError **error) {
        g_autoptr(TomlValue) top = toml_parse(text, length, name, error);

        if (!top)
                return false;
        for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
                if ((!only || g_str_equal(table[i].key, only)) &&
                    !apply_setting(settings, &table[i], top, name, error))
                        return false;
        return true;
}

bool store_settings_apply(StoreSettings *settings, const char *text, size_t length, const char *name,
                          GError **error) {
        return apply_settings(settings, text, length, name, NULL, error);
}

static bool apply_machines(const char *path, const char *text, size_t length, void *data, GError **error) {
        return apply_settings(data, text, length, path, "rootless_storage_path", error);
}

bool store_settings_read_machines(StoreSettings *settings, const char *root, GError **error) {
        return conf_files_read(&conf_storage, root, apply_machines, settings, error);
}

void store_settings_settle_users(StoreSettings *settings, const char *share) {
        if (!g_str_equal(settings->graph_root, STORE_SETTINGS_GRAPH_ROOT))
                return;
        g_free(settings->graph_root);
        settings->graph_root = settings->rootless_path ? g_strdup(settings->rootless_path) :
                                                         g_build_filename(share, "containers/storage", NULL);
}

char **store_settings_stores(const StoreSettings *settings, unsigned *ret_n_writable) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        const char *first = *settings->image_store ? settings->image_store : settings->graph_root;
        bool both = strcmp(first, settings->graph_root) != 0;

        /* With an image store of its own, the graph root is searched right after it. */
        g_strv_builder_add(builder, first);
        if (both)
                g_strv_builder_add(builder, settings->graph_root);
        for (char **store = settings->additional_stores; *store; store++)
                if (strcmp(*store, first) != 0 && strcmp(*store, settings->graph_root) != 0)
                        g_strv_builder_add(builder, *store);
        *ret_n_writable = both ? 2 : 1;
        return g_strv_builder_end(builder);
}

/* As storage.conf's runroot= has it, if that says nothing else. */
char *store_conf_run_root(const StoreConf *conf) {
        const char *runtime = user_view_is_entered() ? g_getenv("XDG_RUNTIME_DIR") : NULL;

        return runtime ? g_build_filename(runtime, "containers", NULL) :
                         g_strconcat(conf->root, "/run/containers/storage", NULL);
}

void store_conf_free(StoreConf *conf) {
        g_free(conf->root);
        g_strfreev(conf->stores);
        g_free(conf);
}

static bool apply_file(const char *path, const char *text, size_t length, void *data, GError **error) {
        return store_settings_apply(data, text, length, path, error);
}

/* In place of what the files say. */
static void set_additional(StoreSettings *settings, const GPtrArray *additional) {
        g_strfreev(settings->additional_stores);
        settings->additional_stores = g_new0(char *, additional->len + 1);
        for (guint i = 0; i < additional->len; i++)
                settings->additional_stores[i] = g_strdup(additional->pdata[i]);
}

StoreConf *store_conf_load(const char *root, const GPtrArray *additional, GError **error) {
        g_autoptr(StoreConf) conf = g_new0(StoreConf, 1);
        g_autoptr(StoreSettings) settings = store_settings_new();

        conf->root = g_strdup(root);
        if (!conf_files_read(&conf_storage, root, apply_file, settings, error))
                return NULL;
        if (additional)
                set_additional(settings, additional);

        conf->stores = store_settings_stores(settings, &conf->n_writable);
        for (char **store = conf->stores; *root && *store; store++) {
                char *path = g_strconcat(root, *store, NULL);

                g_free(*store);
                *store = path;
        }
        return g_steal_pointer(&conf);
}

StoreConf *store_conf_load_users(const char *home, char **variables, GError **error) {
        g_autofree char *path = g_build_filename(home, ".config/containers/storage.conf", NULL), *text = NULL;
        g_autofree char *share = g_build_filename(home, ".local/share", NULL);
        g_autoptr(StoreConf) conf = g_new0(StoreConf, 1);
        g_autoptr(StoreSettings) settings = store_settings_new();
        size_t length = 0;

        settings->variables = g_strdupv(variables);
        if (!store_settings_read_machines(settings, "", error) || !file_read(path, &text, &length, error) ||
            (text && !store_settings_apply(settings, text, length, path, error)))
                return NULL;
        store_settings_settle_users(settings, share);
        conf->root = g_strdup("");
        conf->stores = store_settings_stores(settings, &conf->n_writable);
        return g_steal_pointer(&conf);
}
