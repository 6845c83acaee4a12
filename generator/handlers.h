/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

/* What the keys of keys-container.c do, where it is more than being an option of libstart. */

/* The option of libstart that key->text names, with the value as it is. */
bool set_option(Container *container, const Key *key, const Value *value, GError **error);

/* handlers.c: one value, one field */
bool handle_exec(Container *container, const Key *key, const Value *value, GError **error);
bool handle_group(Container *container, const Key *key, const Value *value, GError **error);
bool handle_image(Container *container, const Key *key, const Value *value, GError **error);
bool handle_mask(Container *container, const Key *key, const Value *value, GError **error);
bool handle_network(Container *container, const Key *key, const Value *value, GError **error);
bool handle_no_new_privileges(Container *container, const Key *key, const Value *value, GError **error);
bool handle_notify(Container *container, const Key *key, const Value *value, GError **error);
bool handle_nothing(Container *container, const Key *key, const Value *value, GError **error);
bool handle_podman_args(Container *container, const Key *key, const Value *value, GError **error);
bool handle_publish_port(Container *container, const Key *key, const Value *value, GError **error);
bool handle_rootfs(Container *container, const Key *key, const Value *value, GError **error);
bool handle_seccomp_profile(Container *container, const Key *key, const Value *value, GError **error);
bool handle_stop_timeout(Container *container, const Key *key, const Value *value, GError **error);
bool handle_user(Container *container, const Key *key, const Value *value, GError **error);

/* cgroup-limits.c */
bool handle_memory(Container *container, const Key *key, const Value *value, GError **error);
bool handle_pids_limit(Container *container, const Key *key, const Value *value, GError **error);

/* devices.c */
bool handle_add_device(Container *container, const Key *key, const Value *value, GError **error);

/* early.c */
bool handle_early(Container *container, const Key *key, const Value *value, GError **error);

/* reload.c */
bool handle_reload_cmd(Container *container, const Key *key, const Value *value, GError **error);
bool handle_reload_signal(Container *container, const Key *key, const Value *value, GError **error);

/* storage.c */
bool handle_layer_limit(Container *container, const Key *key, const Value *value, GError **error);

/* handlers-paths.c: values that hold a path of the host, perhaps relative to the file */
bool handle_environment_file(Container *container, const Key *key, const Value *value, GError **error);
bool handle_mount(Container *container, const Key *key, const Value *value, GError **error);
bool handle_volume(Container *container, const Key *key, const Value *value, GError **error);
