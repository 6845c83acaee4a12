/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/podman-args.h"

#define IN_STORAGE(key) ADVICE("name the directory in " key " of storage.conf(5)")
#define IN_CONTAINERS(key) ADVICE("name the directory in " key " of containers.conf(5)")

/* What says how podman works, and nothing of what it makes. */
#define GLOBALS                                                                                                     \
        { "cgroup-manager", 0, VALUE, GLOBAL, FINE("*") }, { "config", 0, VALUE, GLOBAL, NO_COMMAND },              \
                { "events-backend", 0, VALUE, GLOBAL, FINE("*") }, { "log-level", 0, VALUE, GLOBAL, FINE("*") },    \
                { "module", 0, VALUE, GLOBAL, KEY("ContainersConfModule") },                                        \
                { "network-config-dir", 0, VALUE, GLOBAL, IN_CONTAINERS("network_config_dir") },                    \
                { "remote", 'r', FLAG, GLOBAL, NO_COMMAND }, { "root", 0, VALUE, GLOBAL, IN_STORAGE("graphroot") }, \
                { "runroot", 0, VALUE, GLOBAL, FINE("*") }, { "storage-driver", 0, VALUE, GLOBAL, FINE("*") },      \
                { "storage-opt", 0, VALUE, GLOBAL, FINE("*") }, { "syslog", 0, FLAG, GLOBAL, FINE("*") },           \
                { "tmpdir", 0, VALUE, GLOBAL, FINE("*") }, { "transient-store", 0, FLAG, GLOBAL, FINE("*") }, {     \
                "volumepath", 0, VALUE, GLOBAL, IN_CONTAINERS("volume_path")                                        \
        }

static const PodmanOption volume_options[] = {
        GLOBALS,
        { "driver", 'd', VALUE, KEY("Driver") },
        { "gid", 0, VALUE, ADVICE("write GID=") },
        { "help", 0, FLAG, NO_COMMAND },
        { "ignore", 0, FLAG, FINE("*") }, /* Quadlet says so, too */
        { "label", 'l', VALUE, KEY("Label") },
        { "opt", 'o', VALUE, ADVICE("write Device=, Type=, Options= or Copy=") },
        { "uid", 0, VALUE, ADVICE("write UID=") },
};

static const PodmanOption network_options[] = { GLOBALS };

const PodmanOptions podman_volume_create = { "podman volume create", volume_options, G_N_ELEMENTS(volume_options) };
const PodmanOptions podman_network_create = { "podman network create", network_options,
                                              G_N_ELEMENTS(network_options) };
