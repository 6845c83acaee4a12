/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "generator/files/dropins.h"
#include "generator/files/keyturn-conf.h"
#include "generator/files/unit-file.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/request/storage-option.h"
#include "libstart/value/pull-policy.h"

/* The first keyturn.conf counts. /run is not searched: /run/keyturn holds the containers' state. */
static const char *const directories[] = { "/etc/keyturn", KEYTURN_LIBDIR };

static const struct {
        const char *name;
        const char *limit;    /* of --storage-opt; NULL: something else */
        const char *built_in; /* NULL: libstart's */
} settings[N_SETTINGS] = {
        [SETTING_NETWORK] = { "DefaultNetwork", NULL, "host" },
        [SETTING_LAYER_SIZE] = { "DefaultWritableLayerSize", "size", NULL },
        [SETTING_LAYER_INODES] = { "DefaultWritableLayerInodes", "inodes", NULL },
        [SETTING_PULL] = { "DefaultPull", NULL, "never" },
};

struct KeyturnConf {
        const Tree *tree;
        bool is_loaded;
        bool is_users;
        UnitFile *file;
        GPtrArray *problems; /* of char* */
        GError *error;       /* nothing is known */
        struct {
                char *value, *origin;
                GError *error;
        } known[N_SETTINGS];
};

KeyturnConf *keyturn_conf_new(const Tree *tree) {
        KeyturnConf *conf = g_new0(KeyturnConf, 1);

        conf->tree = tree;
        conf->file = unit_file_new();
        conf->problems = g_ptr_array_new_with_free_func(g_free);
        return conf;
}

const Tree *keyturn_conf_tree(const KeyturnConf *conf) {
        return conf->tree;
}

static void forget(KeyturnConf *conf, Setting setting) {
        g_clear_pointer(&conf->known[setting].value, g_free);
        g_clear_pointer(&conf->known[setting].origin, g_free);
        g_clear_error(&conf->known[setting].error);
}

void keyturn_conf_free(KeyturnConf *conf) {
        unit_file_free(conf->file);
        g_ptr_array_unref(conf->problems);
        g_clear_error(&conf->error);
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                forget(conf, setting);
        g_free(conf);
}

static bool check_network(const char *value, GError **error) {
        static const char *const networks[] = { "bridge", "host", "none", NULL };

        return g_strv_contains(networks, value) ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "network '%s' is not supported: use host (the machine's own network), bridge (Podman's "
                         "default) or none (loopback only)",
                         value);
}

static bool check(Setting setting, const char *value, GError **error) {
        g_autofree char *option = NULL;
        StorageLimits limits = { 0 };

        if (setting == SETTING_PULL)
                return pull_policy_check(value, error);
        if (!settings[setting].limit)
                return check_network(value, error);
        option = g_strconcat(settings[setting].limit, "=", value, NULL);
        return storage_option_parse(option, &limits, error);
}

/* *ret_found tells whether this is the file that counts: it exists, be it empty. */
static bool read_main_file(KeyturnConf *conf, const char *directory, bool *ret_found, GError **error) {
        g_autofree char *path = g_build_filename(directory, "keyturn.conf", NULL), *text = NULL;
        _cleanup_close_ int fd = tree_open_path(conf->tree, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        size_t length;

        *ret_found = fd >= 0;
        if (fd < 0)
                return errno == ENOENT || error_set_errno(error, errno, "%s: cannot be opened", path);
        if (!tree_read(fd, &text, &length, /* readers= */ NULL, error))
                return error_prefix(error, "%s: ", path);
        (void) unit_file_parse(conf->file, path, text, length, NULL);
        return true;
}

static bool read_files(KeyturnConf *conf, GError **error) {
        g_autoptr(Dropins) dropins = dropins_new(conf->tree);
        bool is_found = false;

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], "keyturn.conf.d", NULL);
                _cleanup_close_ int fd = tree_open_path(conf->tree, path, O_PATH | O_DIRECTORY);

                if (fd >= 0)
                        dropins_add_directory(dropins, "keyturn.conf.d", path, READERS_ALL);
                else if (errno != ENOENT && errno != ENOTDIR)
                        return error_set_errno(error, errno, "%s: cannot be opened", path);
                if (!is_found && !read_main_file(conf, directories[i], &is_found, error))
                        return false;
        }
        return dropins_apply_directory(dropins, "keyturn.conf.d", conf->file, error);
}

/* The last line counts, also where one before it is wrong. */
static void set(KeyturnConf *conf, Setting setting, const UnitLine *line) {
        forget(conf, setting);
        if (!line->value[0])
                return;
        if (!check(setting, line->value, &conf->known[setting].error)) {
                g_prefix_error(&conf->known[setting].error, "%s:%u: '%s=': ", line->path, line->number, line->key);
                return;
        }
        conf->known[setting].value = g_strdup(line->value);
        conf->known[setting].origin = g_strdup_printf("%s= in %s:%u", line->key, line->path, line->number);
}

static bool find_setting(const char *name, Setting *ret) {
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                if (g_str_equal(name, settings[setting].name)) {
                        *ret = setting;
                        return true;
                }
        return false;
}

static void refuse(UnitFile *file, const UnitLine *line, const char *section) {
        g_autofree char *text = g_strdup_printf(
                "'%s=': unknown key in [%s]; keyturn.conf has DefaultNetwork=, DefaultPull=, "
                "DefaultWritableLayerSize= and DefaultWritableLayerInodes= in [Keyturn]",
                line->key, section);
        const UnitProblem problem = { .line = *line, .text = unit_file_keep(file, text) };

        g_array_append_val(file->problems, problem);
}

static void apply_section(KeyturnConf *conf, const UnitSection *section) {
        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                Setting setting;

                if (!line->key)
                        continue;
                if (g_str_equal(section->name, "Keyturn") && find_setting(line->key, &setting))
                        set(conf, setting, line);
                else
                        refuse(conf->file, line, section->name);
        }
}

static int compare_problems(gconstpointer a, gconstpointer b) {
        unsigned left = ((const UnitProblem *) a)->line.place, right = ((const UnitProblem *) b)->line.place;

        return (left > right) - (left < right);
}

static bool apply_file(KeyturnConf *conf, GError **error) {
        for (guint i = 0; i < conf->file->sections->len; i++)
                apply_section(conf, conf->file->sections->pdata[i]);
        g_array_sort(conf->file->problems, compare_problems);
        for (guint i = 0; i < conf->file->problems->len; i++) {
                const UnitProblem *problem = &g_array_index(conf->file->problems, UnitProblem, i);

                g_ptr_array_add(conf->problems, g_strdup_printf("%s:%u: %s", problem->line.path, problem->line.number,
                                                                problem->text));
        }
        return conf->problems->len == 0 ||
               error_set(error, KT_ERROR_USAGE, "keyturn.conf cannot be understood, which is reported on its own");
}

const GPtrArray *keyturn_conf_problems(const KeyturnConf *conf) {
        return conf->problems;
}

static bool load(KeyturnConf *conf, GError **error) {
        if (!read_files(conf, error) || !apply_file(conf, error))
                return false;
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                if (!conf->known[setting].value && settings[setting].built_in) {
                        conf->known[setting].value = g_strdup(settings[setting].built_in);
                        conf->known[setting].origin = g_strdup_printf("keyturn's built-in %s=",
                                                                      settings[setting].name);
                }
        return true;
}

bool keyturn_conf_default(KeyturnConf *conf, Setting setting, const char **ret_value, const char **ret_origin,
                          GError **error) {
        const GError *problem;

        if (!conf->is_loaded) {
                conf->is_loaded = true;
                (void) load(conf, &conf->error);
        }
        problem = conf->error ?: conf->known[setting].error;
        if (problem) {
                g_propagate_error(error, g_error_copy(problem));
                return false;
        }
        *ret_value = conf->known[setting].value;
        *ret_origin = conf->known[setting].origin;
        return true;
}

void keyturn_conf_set_users(KeyturnConf *conf) {
        conf->is_users = true;
}

bool keyturn_conf_is_users(const KeyturnConf *conf) {
        return conf->is_users;
}
