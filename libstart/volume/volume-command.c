/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/value/names.h"
#include "libstart/volume/volume-command.h"
#include "libstart/volume/volume.h"

#define PODMAN "/usr/bin/podman"
#define MOUNT "/usr/bin/mount"

typedef struct Command {
        GPtrArray *options; /* of const char*: --label VALUE, --opt VALUE */
        const char *device, *type, *o;
        const char *name;
        bool unmount;
} Command;

static bool read_option(Command *command, const char *option, const char *value, GError **error) {
        if (!value || (!g_str_equal(option, "--label") && !g_str_equal(option, "--opt")))
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart volume: '%s': there are --label VALUE, --opt VALUE and --unmount", option);
        g_ptr_array_add(command->options, (void *) option);
        g_ptr_array_add(command->options, (void *) value);
        if (g_str_equal(option, "--label"))
                return true;
        if (g_str_has_prefix(value, "device="))
                command->device = strchr(value, '=') + 1;
        else if (g_str_has_prefix(value, "type="))
                command->type = strchr(value, '=') + 1;
        else if (g_str_has_prefix(value, "o="))
                command->o = strchr(value, '=') + 1;
        return true;
}

static bool read_command(Command *command, const char *const *words, GError **error) {
        for (; *words && (*words)[0] == '-'; words++) {
                if (g_str_equal(*words, "--unmount"))
                        command->unmount = true;
                else if (!read_option(command, words[0], words[1], error))
                        return false;
                else
                        words++;
        }
        command->name = words[0];
        if (!words[0] || words[1])
                return error_set(error, KT_ERROR_USAGE, "libstart volume: one name is needed");
        return name_check_volume(words[0], error);
}

static GPtrArray *make_words(const char *const *words) {
        GPtrArray *list = g_ptr_array_new();

        for (; *words; words++)
                g_ptr_array_add(list, (void *) *words);
        return list;
}

static bool ask_podman(const Command *command, GError **error) {
        static const char *const first[] = { PODMAN, "volume", "create", NULL };
        g_autoptr(GPtrArray) words = make_words(first);

        for (guint i = 0; i < command->options->len; i++)
                g_ptr_array_add(words, command->options->pdata[i]);
        g_ptr_array_add(words, (void *) command->name);
        g_ptr_array_add(words, NULL);
        return host_program_run((const char *const *) words->pdata, NULL, error);
}

/* The number behind NAME= in a list of options; G_MAXUINT32 where there is none. */
static guint32 find_id(const char *options, const char *name) {
        g_auto(GStrv) all = g_strsplit(options ?: "", ",", -1);
        guint64 id = G_MAXUINT32;

        for (char **option = all; *option; option++)
                if (g_str_has_prefix(*option, name))
                        g_ascii_string_to_unsigned(*option + strlen(name), 10, 0, G_MAXUINT32 - 1, &id, NULL);
        return (guint32) id;
}

static bool make_here(const Command *command, const char *directory, GError **error) {
        _cleanup_close_ int volume = volume_open(directory, command->name, error), data = -1;

        if (volume < 0)
                return false;
        data = volume_open_data(volume, command->name, error);
        if (data < 0)
                return false;
        if (command->device || !volume_is_new(volume, data))
                return true;
        return fchown(data, find_id(command->o, "uid="), find_id(command->o, "gid=")) == 0 ||
               error_set_errno(error, errno, "Cannot change the owner of the volume '%s'", command->name);
}

/* No container waits in vain for a Podman that cannot do it: one that still has a volume in its database whose directory is
 * gone, or that is too old for an option. */
static bool make(const Command *command, const char *directory, const char *path, GError **error) {
        g_autoptr(GError) problem = NULL;

        if (access(path, F_OK) != 0 && access(PODMAN, X_OK) == 0 && ask_podman(command, &problem))
                return true;
        if (problem)
                log_warning("Podman does not make the volume '%s', and keyturn does: %s", command->name,
                            problem->message);
        return make_here(command, directory, error);
}

static bool is_mounted(const char *path) {
        struct statx st;

        return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &st) == 0 && st.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

static bool mount_device(const Command *command, const char *path, GError **error) {
        static const char *const first[] = { MOUNT, NULL };
        g_autoptr(GPtrArray) words = make_words(first);

        if (!command->device || is_mounted(path))
                return true;
        if (command->type) {
                g_ptr_array_add(words, (void *) "-t");
                g_ptr_array_add(words, (void *) command->type);
        }
        if (command->o) {
                g_ptr_array_add(words, (void *) "-o");
                g_ptr_array_add(words, (void *) command->o);
        }
        g_ptr_array_add(words, (void *) "--");
        g_ptr_array_add(words, (void *) command->device);
        g_ptr_array_add(words, (void *) path);
        g_ptr_array_add(words, NULL);
        return host_program_run((const char *const *) words->pdata, NULL, error);
}

bool volume_command(const char *const *words, GError **error) {
        g_autoptr(GPtrArray) options = g_ptr_array_new();
        Command command = { .options = options };
        g_autofree char *directory = NULL, *path = NULL;

        if (!read_command(&command, words, error))
                return false;
        directory = volume_directory(error);
        if (!directory)
                return false;
        path = volume_path(directory, command.name);
        if (command.unmount)
                return !is_mounted(path) || umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 ||
                       error_set_errno(error, errno, "Cannot unmount '%s'", path);
        return make(&command, directory, path, error) && mount_device(&command, path, error);
}
