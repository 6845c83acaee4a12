/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/key.h"

/* Keys that are more than an option of libstart, but need no file of their own. */
KeyHandler handle_apparmor, handle_label_flag, handle_label_part, handle_exec, handle_global_args, handle_group,
        handle_image, handle_mask, handle_no_new_privileges, handle_nothing, handle_notify, handle_podman_args,
        handle_rootfs, handle_seccomp_profile, handle_stop_timeout, handle_user, handle_volatile_tmp;

/* Complete what several keys say together: Image= and Rootfs=, User= and Group=, VolatileTmp= and ReadOnly=. Called after the keys have been applied. */
void keys_container_finish(Container *container);
