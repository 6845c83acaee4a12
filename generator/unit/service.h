/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "generator/files/unit-file.h"
#include "libstart/request/launch-args.h"

typedef struct Link {
        char *path;   /* in the output directory: "multi-user.target.wants/foo.service" */
        char *target; /* relative to the link: "../foo.service" */
} Link;

/* The unit that is being made: the user's file with lines added to it. */
typedef struct Service {
        char *name;                      /* "foo.service" */
        const UnitFile *unit;            /* the user's; must outlive the Service */
        const UnitSection *user_unit;    /* its [Unit], or NULL */
        const UnitSection *user_service; /* and its [Service] */
        GString *comments;               /* after the first line */
        GString *unit_first;             /* before the user's [Unit] lines, so that theirs count */
        GString *unit_last;              /* after them */
        GString *service_last;           /* after the user's [Service] lines, so that ours count */
        GPtrArray *links;                /* of Link, to the unit */
} Service;

/* Takes ownership of name. */
Service *service_new(char *name, const UnitFile *unit);
void service_free(Service *service);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Service, service_free)

void service_comment(Service *service, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* Nothing where the user's [Unit] has an empty assignment of the key. */
void service_unit_first(Service *service, const char *key, const char *value);
void service_unit(Service *service, const char *key, const char *value);
void service_set(Service *service, const char *key, const char *value);

/* What a helper of keyturn's has: these capabilities, of devices the standard ones, and those of devices
 * (DeviceAllow=, or NULL). What the user's [Service] says of them counts instead. Where the user has added commands,
 * these may need more, and nothing is said. */
void service_confine(Service *service, const char *capabilities, const char *const *devices);

/* The same for what fills Podman's store or a volume: it makes files of anybody's, and mounts layers. Device nodes of
 * an image are made and not opened. */
void service_confine_to_store(Service *service);

/* A oneshot's start has no end but what the file says, else this one (TimeoutStartSec=). */
void service_limit_start(Service *service, const char *time);

/* Start after `unit`, which is started, too; dependency: "Requires" or "Wants". Once, however often it is said. */
void service_order_after(Service *service, const char *dependency, const char *unit);

/* A link to `unit`, the service or an instance of it. Takes ownership of path. */
void service_link(Service *service, char *path, const char *unit);

/* ExecStart=: `libstart run` and the words of args, quoted for systemd, which still expands % and $ in them. */
void service_exec_start(Service *service, const LaunchArgs *args);

/* What the user's [Service] says last, or NULL where it says nothing or has reset it. */
const UnitLine *service_user_line(const Service *service, const char *key);

/* The text of the unit file. `path` is that of the file it is made from. Transfer full. */
GString *service_print(const Service *service, const char *path);
