/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>

#include "generator/config.h"
#include "generator/dropins.h"
#include "generator/unit-file.h"
#include "keyturn-config.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/network-mode.h"

/* First wins. There is none below /run, where keyturn has the containers' state instead. */
static const char *const directories[] = { "/etc/keyturn", KEYTURN_LIBDIR };

struct Config {
        const Root *root;
        bool is_loaded;
        UnitFile *file;
        GError *error;
        char *network, *origin;
};

Config *config_new(const Root *root) {
        Config *config = g_new0(Config, 1);

        config->root = root;
        config->file = unit_file_new();
        return config;
}

void config_free(Config *config) {
        if (!config)
                return;
        unit_file_free(config->file);
        g_clear_error(&config->error);
        g_free(config->network);
        g_free(config->origin);
        g_free(config);
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

static bool set_network(Config *config, const UnitLine *line, GError **error) {
        NetworkMode mode;

        g_clear_pointer(&config->network, g_free);
        g_clear_pointer(&config->origin, g_free);
        if (!line->value[0])
                return true;
        if (!network_mode_parse(line->value, &mode, error)) {
                g_prefix_error(error, "%s:%u: 'DefaultNetwork=': ", line->path, line->number);
                return false;
        }
        config->network = g_strdup(line->value);
        config->origin = g_strdup_printf("DefaultNetwork= in %s:%u", line->path, line->number);
        return true;
}

static bool apply_section(Config *config, const UnitSection *section, GError **error) {
        for (guint i = 0; i < section->lines->len; i++) {
                const UnitLine *line = &g_array_index(section->lines, UnitLine, i);

                if (!line->key)
                        continue;
                if (!g_str_equal(section->name, "Keyturn") || !g_str_equal(line->key, "DefaultNetwork"))
                        return error_set(
                                error, KT_ERROR_USAGE,
                                "%s:%u: '%s=': unknown key in [%s]; keyturn.conf has DefaultNetwork= in "
                                "[Keyturn]",
                                line->path, line->number, line->key, section->name);
                if (!set_network(config, line, error))
                        return false;
        }
        return true;
}

static bool load(Config *config, GError **error) {
        if (!read_files(config, error))
                return false;
        for (guint i = 0; i < config->file->sections->len; i++)
                if (!apply_section(config, config->file->sections->pdata[i], error))
                        return false;
        if (!config->network) {
                config->network = g_strdup("host");
                config->origin = g_strdup("keyturn's built-in DefaultNetwork=");
        }
        return true;
}

bool config_default_network(Config *config, const char **ret_network, const char **ret_origin,
                            GError **error) {
        if (!config->is_loaded) {
                config->is_loaded = true;
                (void) load(config, &config->error);
        }
        if (config->error) {
                g_propagate_error(error, g_error_copy(config->error));
                return false;
        }
        *ret_network = config->network;
        *ret_origin = config->origin;
        return true;
}
