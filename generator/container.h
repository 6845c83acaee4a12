/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/keyturn-conf.h"
#include "generator/load.h"
#include "generator/service.h"
#include "generator/unit-names.h"
#include "libstart/option/launch-args.h"

/* A .container file on its way to a service. */
typedef struct Container {
        const SourceFile *source;
        Service *service;
        LaunchArgs *args;
        GPtrArray *problems; /* of char*, "FILE:LINE: ...": any, and there is no service */
        GPtrArray *warnings; /* of char*, the same form */

        /* values that only make sense together with others, noted by their keys */
        char *image, *rootfs;
        char *user, *group;
        const UnitLine *group_line;
        GPtrArray *published; /* of const UnitLine* */
        GPtrArray *extra;     /* of char*: the words of PodmanArgs= */
        const UnitLine *extra_line;
        char *stop_timeout;
        GPtrArray *reload_cmd; /* of char*: the words of ReloadCmd= */
        int reload_signal;
        const UnitLine *reload_cmd_line, *reload_signal_line; /* NULL where the key is not given */
        char *pids_limit, *memory;                            /* as systemd writes them */
        bool has_network;                                     /* the file itself says which */
        bool is_early;                                        /* [Keyturn] Early= */
} Container;

/* Convert everything but what needs other files to be known, which `names` has, and the system's settings.
 * Takes ownership of service_name. Never fails: look at problems. */
Container *container_new(const SourceFile *source, char *service_name, const UnitNames *names, KeyturnConf *conf);
void container_free(Container *container);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Container, container_free)

/* "FILE:LINE: 'KEY=': MESSAGE" in problems or warnings; line may be NULL for the file as a whole. */
void container_problem(Container *container, const UnitLine *line, const char *format, ...) G_GNUC_PRINTF(3, 4);
void container_warning(Container *container, const UnitLine *line, const char *format, ...) G_GNUC_PRINTF(3, 4);
