/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libstart/base/directory.h"
#include "libstart/base/error.h"
#include "libstart/base/fd.h"
#include "libstart/base/host-program.h"
#include "libstart/base/log.h"
#include "libstart/base/paths.h"
#include "libstart/base/user-view.h"
#include "libstart/mount/host-path.h"
#include "libstart/value/mount-options.h"
#include "libstart/value/names.h"
#include "libstart/volume/podman-record.h"
#include "libstart/volume/tree-copy.h"
#include "libstart/volume/volume-command.h"
#include "libstart/volume/volume-users.h"
#include "libstart/volume/volume-witness.h"
#include "libstart/volume/volume.h"

#define MOUNT "/usr/bin/mount"
/* No volume of Podman's has a name that begins with a dot. */
#define REMOVING ".removing-"

typedef struct Command {
        const char *device, *type, *o;
        const char *name;
        HostAccess access; /* to the device */
        bool unmount, remove;
} Command;

/* What is not known would be left out of the mount without a word. copy and nocopy are for Podman, as labels are. */
static bool read_opt(Command *command, const char *value, GError **error) {
        if (g_str_has_prefix(value, "device="))
                command->device = strchr(value, '=') + 1;
        else if (g_str_has_prefix(value, "type="))
                command->type = strchr(value, '=') + 1;
        else if (g_str_has_prefix(value, "o="))
                command->o = strchr(value, '=') + 1;
        else if (!g_str_equal(value, "copy") && !g_str_equal(value, "nocopy"))
                return error_set(error, KT_ERROR_USAGE,
                                 "libstart volume: --opt: '%s': there are device=, type=, o=, copy and nocopy",
                                 value);
        return true;
}

static bool read_option(Command *command, const char *option, const char *value, GError **error) {
        if (value && g_str_equal(option, "--opt"))
                return read_opt(command, value, error);
        if (value && g_str_equal(option, "--untrusted-list"))
                command->access.untrusted_list = value;
        else if (!value || !g_str_equal(option, "--label")) /* for Podman, should it take the volume over */
                return error_set(
                        error, KT_ERROR_USAGE,
                        "libstart volume: '%s': there are --label VALUE, --opt VALUE, --untrusted-list PATH, "
                        "--unmount and --remove",
                        option);
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

static bool unmount_noted(const char *name, const char *path, GError **error) {
        return unmount(path, error) && volume_forget_mounted(name, error);
}

/* Device= is not in its file any more, or VolumeName= is another: what is mounted would be there until the next boot,
 * and then no more. What another service has mounted stays: a container may name a .volume file's volume without it
 * (keyturn-volume@). */
static bool unmount_former(const Command *command, const char *directory, GError **error) {
        g_auto(GStrv) names = directory_list(PATH_MOUNTED, NULL);

        for (char **name = names; name && *name; name++) {
                g_autofree char *path = volume_path(directory, *name);

                if ((command->device && g_str_equal(*name, command->name)) || !volume_has_mounted(*name))
                        continue;
                log_notice("The volume '%s' has no Device= any more, which is unmounted: its files are those in '%s'",
                           *name, path);
                if (!unmount_noted(*name, path, error))
                        return false;
        }
        return true;
}

static bool check_layers(const Command *command, bool written, GError **error) {
        g_autoptr(GPtrArray) layers = mount_options_find_layers(command->o, written);

        for (guint i = 0; i < layers->len; i++)
                if (!host_path_check_name(layers->pdata[i], command->access.untrusted_list, error))
                        return false;
        return true;
}

/* mount(8) follows all links, and a payload may have put one into the path. So what is bound is opened here, whatever
 * has its name by then. Other file systems are mounted by the name: they may need it for as long as they are mounted
 * (FUSE), and of an image of a disk mount(8) asks the kernel for the name again. So no payload may change that, nor
 * the names of an overlay's directories. */
static bool open_device(const Command *command, int *ret_bound, GError **error) {
        const HostAccess *access = &command->access;

        *ret_bound = -1;
        if (!access->untrusted_list)
                return true;
        if (!check_layers(command, false, error) || !check_layers(command, true, error))
                return false;
        if (command->device[0] != '/')
                return true;
        if (!mount_options_bind(command->type, command->o))
                return host_path_check_name(command->device, access->untrusted_list, error);
        *ret_bound = host_path_open(command->device, O_PATH, access, error);
        return *ret_bound >= 0;
}

static bool run_mount(const Command *command, const char *path, GError **error) {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        _cleanup_close_ int fd = -1;
        g_autofree char *opened = NULL;
        g_auto(GStrv) words = NULL;

        if (!open_device(command, &fd, error))
                return false;
        g_strv_builder_add(builder, MOUNT);
        if (fd >= 0) {
                opened = g_strdup_printf("/proc/%d/fd/%d", (int) getpid(), fd);
                g_strv_builder_add(builder, "--no-canonicalize"); /* or it would be the name again */
        }
        if (command->type) /* bind is none, but what mount(8) calls so among options; as Podman has it */
                g_strv_builder_add_many(builder, g_str_equal(command->type, "bind") ? "-o" : "-t", command->type,
                                        NULL);
        if (command->o)
                g_strv_builder_add_many(builder, "-o", command->o, NULL);
        g_strv_builder_add_many(builder, "--", opened ?: command->device, path, NULL);
        words = g_strv_builder_end(builder);
        return host_program_run((const char *const *) words, NULL, error);
}

static bool mount_device(const Command *command, const char *path, GError **error) {
        struct statx st;

        if (!command->device)
                return true;
        if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &st) < 0)
                return error_set_errno(error, errno, "Cannot look at '%s'", path);
        return (st.stx_attributes & STATX_ATTR_MOUNT_ROOT || run_mount(command, path, error)) &&
               volume_note_mounted(command->name, error);
}

/* Gone at once for who looks for it, whatever becomes of what is in it. */
static bool move_and_remove(int parent, const char *name, const char *aside, GError **error) {
        if (renameat2(parent, name, parent, aside, RENAME_NOREPLACE) < 0)
                return error_set_errno(error, errno, "Cannot move the volume '%s'", name);
        return tree_remove(parent, aside, error);
}

/* It stays, with a warning and without an error, where somebody else has it: a container of Podman's, a process that
 * it is mounted for, or who has mounted something in it. */
static bool remove_volume(const char *directory, const char *name, GError **error) {
        g_autofree char *aside = g_strconcat(REMOVING, name, NULL), *reason = NULL;
        _cleanup_close_ int parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC), volume = -1, lock = -1;
        g_autoptr(GError) failed = NULL;

        if (parent < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot open '%s'", directory);
        lock = volumes_lock(directory, error);
        if (lock < 0 || !tree_remove(parent, aside, error)) /* somebody was stopped half-way */
                return false;
        volume = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (volume < 0)
                return errno == ENOENT || error_set_errno(error, errno, "Cannot open the volume '%s'", name);
        reason = (user_view_is_entered() ? volume_witness_ask : volume_find_user)(volume, name, &failed);
        if (failed) {
                g_propagate_prefixed_error(error, g_steal_pointer(&failed), "The volume '%s' stays: ", name);
                return false;
        }
        if (!reason)
                return move_and_remove(parent, name, aside, error);
        log_warning("The volume '%s' stays: %s", name, reason);
        return true;
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
                return unmount_noted(command.name, path, error);
        if (command.remove)
                /* A user's Podman is asked outside of the view, and says that it has it. */
                return (user_view_is_entered() || podman_record_drop(directory, command.name, error)) &&
                       remove_volume(directory, command.name, error);
        return unmount_former(&command, directory, error) && podman_record_drop(directory, command.name, error) &&
               make(&command, directory, error) && mount_device(&command, path, error);
}
