/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sys/stat.h>

#include "generator/parts/machine-conf.h"
#include "libstart/base/error.h"
#include "libstart/config/conf-value.h"
#include "libstart/value/unit-words.h"

#define GRAPH_ROOT "/var/lib/containers/storage" /* what the units that are shipped wait for anyway */

struct MachineConf {
        char *root;
        bool is_read;
        char *graph_root; /* NULL: as usual */
        char *volumes;
        bool has_own_volumes;
        bool has_labels;
};

MachineConf *machine_conf_new(const char *root) {
        MachineConf *conf = g_new0(MachineConf, 1);

        conf->root = g_strdup(root ? root : "");
        conf->has_labels = true;
        return conf;
}

void machine_conf_free(MachineConf *conf) {
        g_free(conf->root);
        g_free(conf->graph_root);
        g_free(conf->volumes);
        g_free(conf);
}

static void read_all(MachineConf *conf) {
        if (conf->is_read)
                return;
        conf->is_read = true;
        (void) conf_value_read_string(&conf_storage, conf->root, "storage", "graphroot", &conf->graph_root, NULL);
        (void) conf_value_read_string(&conf_containers, conf->root, "engine", "volume_path", &conf->volumes, NULL);
        (void) conf_value_read_boolean(&conf_containers, conf->root, "containers", "label", &conf->has_labels, NULL);
        if (g_strcmp0(conf->graph_root, GRAPH_ROOT) == 0 || g_strcmp0(conf->graph_root, "") == 0)
                g_clear_pointer(&conf->graph_root, g_free);
        if (g_strcmp0(conf->volumes, "") == 0)
                g_clear_pointer(&conf->volumes, g_free);
        conf->has_own_volumes = conf->volumes;
        if (!conf->volumes)
                conf->volumes = g_build_filename(conf->graph_root ?: GRAPH_ROOT, "volumes", NULL);
}

const char *machine_conf_volumes(MachineConf *conf) {
        read_all(conf);
        return conf->volumes;
}

static bool look_for_helpers(const char *path, const char *text, size_t length, void *data, GError **error) {
        bool *found = data;

        *found |= conf_file_mentions(text, length, "helper_binaries_dir");
        return true;
}

bool machine_conf_has_helpers(MachineConf *conf) {
        bool found = false;

        (void) conf_files_read(&conf_containers, conf->root, look_for_helpers, &found, NULL);
        return found;
}

void machine_conf_label(MachineConf *conf, Conversion *container) {
        if (container->podman.keeps_label)
                return;
        read_all(conf);
        if (!conf->has_labels && !launch_args_last(container->args->security_opt, "label") &&
            launch_args_set(container->args, "security-opt", "label=disable", NULL))
                service_comment(container->service, "label=disable, from label=false of containers.conf.");
}

/* Also where a link leads out of a foreign root. */
static bool is_program(const MachineConf *conf, const char *path) {
        g_autofree char *full = g_strconcat(conf->root, path, NULL);
        struct stat st;

        return lstat(full, &st) == 0 && (S_ISLNK(st.st_mode) || (S_ISREG(st.st_mode) && st.st_mode & 0111));
}

typedef struct RuntimeSearch {
        const char *name;
        GPtrArray *paths; /* of char*; the last file that has the name counts */
} RuntimeSearch;

static bool look_for_runtime(const char *path, const char *text, size_t length, void *data, GError **error) {
        RuntimeSearch *search = data;
        g_autoptr(TomlValue) top = NULL;
        const TomlValue *value;

        if (!conf_file_mentions(text, length, "runtimes"))
                return true;
        top = toml_parse(text, length, path, error);
        if (!top)
                return false;
        value = toml_get(toml_get(toml_get(top, "engine"), "runtimes"), search->name);
        if (!value)
                return true;
        g_ptr_array_set_size(search->paths, 0);
        for (guint i = 0; value->type == TOML_ARRAY && i < value->array->len; i++) {
                const TomlValue *element = value->array->pdata[i];

                if (element->type == TOML_STRING && element->string[0] == '/')
                        g_ptr_array_add(search->paths, g_strdup(element->string));
        }
        return true;
}

char *machine_conf_find_runtime(const MachineConf *conf, const char *name, GError **error) {
        static const char *const directories[] = { "/usr/bin",        "/usr/sbin", "/usr/local/bin",
                                                   "/usr/local/sbin", "/bin",      "/sbin" };
        g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
        RuntimeSearch search = { .name = name, .paths = paths };

        if (name[0] == '/')
                g_ptr_array_add(paths, g_strdup(name));
        else if (!conf_files_read(&conf_containers, conf->root, look_for_runtime, &search, error))
                return NULL;
        for (size_t i = 0; name[0] != '/' && i < G_N_ELEMENTS(directories); i++)
                g_ptr_array_add(paths, g_build_filename(directories[i], name, NULL));
        for (guint i = 0; i < paths->len; i++)
                if (is_program(conf, paths->pdata[i]))
                        return g_strdup(paths->pdata[i]);
        return error_null(error, KT_ERROR_NOT_FOUND,
                          name[0] == '/' ?
                                  "there is no program '%s'" :
                                  "no OCI runtime '%s' is installed: neither [engine.runtimes] of containers.conf "
                                  "names a program that is there, nor is one in /usr/bin, /usr/sbin or "
                                  "/usr/local/bin",
                          name);
}

/* Words of RequiresMountsFor=; empty where all is as usual. Transfer full. */
static char *find_mounts(MachineConf *conf) {
        g_autoptr(GString) words = g_string_new(NULL);

        read_all(conf);
        if (conf->graph_root)
                unit_words_add(words, conf->graph_root);
        if (conf->has_own_volumes)
                unit_words_add(words, conf->volumes);
        return g_strdup(words->str);
}

void machine_conf_mounts(MachineConf *conf, Service *service) {
        g_autofree char *words = find_mounts(conf);

        if (words[0])
                service_unit(service, "RequiresMountsFor", words);
}

void machine_conf_write(MachineConf *conf, Writer *writer, const char *origin) {
        static const char *const units[] = { "keyturn-volume@.service", "keyturn-userns@.service" };
        g_autofree char *words = find_mounts(conf);

        for (size_t i = 0; i < G_N_ELEMENTS(units) && words[0]; i++) {
                g_autofree char *name = g_strdup_printf("%s.d/50-keyturn-store.conf", units[i]);
                g_autoptr(GString) text = g_string_new(WRITER_HEAD "[Unit]\n");

                g_string_append_printf(text, "RequiresMountsFor=%s\n", words);
                writer_put_file(writer, origin, name, READERS_ALL, text);
        }
}
