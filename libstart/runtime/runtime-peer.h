/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Another container that runs, keyturn's or Podman's, as its state tells. */
typedef struct RunningContainer {
        char *state_root, *id;
        pid_t pid;
        bool has_network;   /* another one than the host's */
        char *network_path; /* the namespace that it was told to enter; NULL: a new one */
} RunningContainer;

/* unit: the service's name without its suffix, which is that of its directory in PATH_RUN. */
bool runtime_find_running(const char *unit, RunningContainer *ret, GError **error);

/* id: of one that Podman runs with crun, whose state is of the same form. */
bool runtime_find_podmans(const char *id, RunningContainer *ret, GError **error);

void running_container_clear(RunningContainer *container);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(RunningContainer, running_container_clear)
