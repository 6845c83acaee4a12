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
#include "libstart/base/user-view.h"
#include "libstart/value/names.h"
#include "libstart/volume/podman-record.h"
#include "libstart/volume/volume-command.h"
#include "libstart/volume/volume-remove.h"
#include "libstart/volume/volume.h"

#define MOUNT "/usr/bin/mount"

typedef struct Command {
        const char *device, *type, *o;
        const char *name;
        bool unmount, remove;
} Command;

static bool read_option(Command *command, const char *option, const char *value, GError **error) {
        if (!value || (!g_str_equal(option, "--label") && !g_str_equal(option, "--opt")))
                return error_set(
                        error, KT_ERROR_USAGE,
                        "libstart volume: '%s': there are --label VALUE, --opt VALUE, --unmount and --remove",
                        option);
        if (g_str_equal(option, "--label")) /* for Podman, should it take the volume over */
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
                else if (g_str_equal(*words, "--remove"))
                        command->remove = true;
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

/* The number behind NAME= in a list of options; G_MAXUINT32 where there is none. */
static guint32 find_id(const char *options, const char *name) {
        g_auto(GStrv) all = g_strsplit(options ?: "", ",", -1);
        guint64 id = G_MAXUINT32;

        for (char **option = all; *option; option++)
                if (g_str_has_prefix(*option, name))
                        g_ascii_string_to_unsigned(*option + strlen(name), 10, 0, G_MAXUINT32 - 1, &id, NULL);
        return (guint32) id;
}

static bool make(const Command *command, const char *directory, GError **error) {
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

static bool unmount(const char *path, GError **error) {
        return umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0 || errno == EINVAL || errno == ENOENT ||
               error_set_errno(error, errno, "Cannot unmount '%s'", path);
}

static bool mount_device(const Command *command, const char *path, GError **error) {
        g_autoptr(GPtrArray) words = g_ptr_array_new();
        struct statx st;

        if (!command->device)
                return true;
        if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        if (st.stx_attributes & STATX_ATTR_MOUNT_ROOT)
                return true;
        g_ptr_array_add(words, (void *) MOUNT);
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
        Command command = { 0 };
        g_autofree char *directory = NULL, *path = NULL;

        if (!read_command(&command, words, error))
                return false;
        directory = volume_directory(error);
        if (!directory)
                return false;
        path = volume_path(directory, command.name);
        if (command.unmount)
                return unmount(path, error);
        if (command.remove)
                /* A user's Podman is asked outside of the view, and says that it has it. */
                return (user_view_is_entered() || podman_record_drop(directory, command.name, error)) &&
                       volume_remove(directory, command.name, error);
        return podman_record_drop(directory, command.name, error) && make(&command, directory, error) &&
               mount_device(&command, path, error);
}
