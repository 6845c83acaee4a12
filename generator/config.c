/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "generator/config.h"
#include "generator/dropins.h"
#include "generator/unit-file.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/option/check-value.h"

/* First wins. There is none below /run, where keyturn has the containers' state instead. */
static const char *const directories[] = { "/etc/keyturn", KEYTURN_LIBDIR };

static bool check_layer_size(const char *value, GError **error);
static bool check_layer_inodes(const char *value, GError **error);

static const struct {
        const char *name;
        bool (*check)(const char *value, GError **error);
        const char *built_in; /* NULL: libstart's */
} settings[N_SETTINGS] = {
        [SETTING_NETWORK] = { "DefaultNetwork", check_network, "host" },
        [SETTING_LAYER_SIZE] = { "DefaultWritableLayerSize", check_layer_size, NULL },
        [SETTING_LAYER_INODES] = { "DefaultWritableLayerInodes", check_layer_inodes, NULL },
};

struct Config {
        const Root *root;
        bool is_loaded;
        UnitFile *file;
        GError *error; /* nothing is known */
        struct {
                char *value, *origin;
                GError *error;
        } known[N_SETTINGS];
};

Config *config_new(const Root *root) {
        Config *config = g_new0(Config, 1);

        config->root = root;
        config->file = unit_file_new();
        return config;
}

static void forget(Config *config, Setting setting) {
        g_clear_pointer(&config->known[setting].value, g_free);
        g_clear_pointer(&config->known[setting].origin, g_free);
        g_clear_error(&config->known[setting].error);
}

void config_free(Config *config) {
        if (!config)
                return;
        unit_file_free(config->file);
        g_clear_error(&config->error);
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                forget(config, setting);
        g_free(config);
}

static bool check_storage(const char *name, const char *value, GError **error) {
        g_autofree char *option = g_strconcat(name, "=", value, NULL);

        return check_storage_opt(option, error);
}

static bool check_layer_size(const char *value, GError **error) {
        return check_storage("size", value, error);
}

static bool check_layer_inodes(const char *value, GError **error) {
        return check_storage("inodes", value, error);
}

/* *ret_found tells whether this is the file that counts: it exists, be it empty. */
static bool read_main_file(Config *config, const char *directory, bool *ret_found, GError **error) {
        g_autofree char *path = g_build_filename(directory, "keyturn.conf", NULL), *text = NULL;
        _cleanup_close_ int fd = root_open_path(config->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        size_t length;

        *ret_found = fd >= 0;
        if (fd < 0)
                return errno == ENOENT || error_set_errno(error, errno, "%s: cannot be opened", path);
        if (!root_read(fd, &text, &length, /* readers= */ NULL, error)) {
                g_prefix_error(error, "%s: ", path);
                return false;
        }
        return unit_file_parse(config->file, path, text, length, error);
}

static bool read_files(Config *config, GError **error) {
        g_autoptr(Dropins) dropins = dropins_new(config->root);
        bool is_found = false;

        for (size_t i = 0; i < G_N_ELEMENTS(directories); i++) {
                g_autofree char *path = g_build_filename(directories[i], "keyturn.conf.d", NULL);
                _cleanup_close_ int fd = root_open_path(config->root, path, O_PATH | O_DIRECTORY);

                if (fd >= 0)
                        dropins_add_directory(dropins, "keyturn.conf.d", path, READERS_ALL);
                if (!is_found && !read_main_file(config, directories[i], &is_found, error))
                        return false;
        }
        return dropins_apply_directory(dropins, "keyturn.conf.d", config->file, error);
}

/* The last line counts, also where one before it is wrong. */
static void set(Config *config, Setting setting, const UnitLine *line) {
        forget(config, setting);
        if (!line->value[0])
                return;
        if (!settings[setting].check(line->value, &config->known[setting].error)) {
                g_prefix_error(&config->known[setting].error, "%s:%u: '%s=': ", line->path, line->number, line->key);
                return;
        }
        config->known[setting].value = g_strdup(line->value);
        config->known[setting].origin = g_strdup_printf("%s= in %s:%u", line->key, line->path, line->number);
}

static bool find_setting(const char *name, Setting *ret) {
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                if (g_str_equal(name, settings[setting].name)) {
                        *ret = setting;
                        return true;
                }
        return false;
}

static bool apply_section(Config *config, const UnitSection *section, GError **error) {
        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);
                Setting setting;

                if (!line->key)
                        continue;
                if (!g_str_equal(section->name, "Keyturn") || !find_setting(line->key, &setting))
                        return error_set(error, KT_ERROR_USAGE,
                                         "%s:%u: '%s=': unknown key in [%s]; keyturn.conf has DefaultNetwork=, "
                                         "DefaultWritableLayerSize= and DefaultWritableLayerInodes= in [Keyturn]",
                                         line->path, line->number, line->key, section->name);
                set(config, setting, line);
        }
        return true;
}

static bool load(Config *config, GError **error) {
        if (!read_files(config, error))
                return false;
        for (guint i = 0; i < config->file->sections->len; i++)
                if (!apply_section(config, config->file->sections->pdata[i], error))
                        return false;
        for (Setting setting = 0; setting < N_SETTINGS; setting++)
                if (!config->known[setting].value && settings[setting].built_in) {
                        config->known[setting].value = g_strdup(settings[setting].built_in);
                        config->known[setting].origin = g_strdup_printf("keyturn's built-in %s=",
                                                                        settings[setting].name);
                }
        return true;
}

bool config_default(Config *config, Setting setting, const char **ret_value, const char **ret_origin,
                    GError **error) {
        const GError *problem;

        if (!config->is_loaded) {
                config->is_loaded = true;
                (void) load(config, &config->error);
        }
        problem = config->error ?: config->known[setting].error;
        if (problem) {
                g_propagate_error(error, g_error_copy(problem));
                return false;
        }
        *ret_value = config->known[setting].value;
        *ret_origin = config->known[setting].origin;
        return true;
}
