/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The service of a container or a pod as a unit sees it that makes something ahead of it: keyturn-KIND@NAME.service,
 * with a drop-in that says what is to be made; of a template or an instance, keyturn-KIND-NAME@INSTANCE.service, a
 * unit of its own. In a template %i is the same in both. */
typedef struct OwnName {
        char *full;     /* "foo@%i": %N in that service's unit */
        char *prefix;   /* "foo": %p */
        char *instance; /* "bar" of "foo@bar"; "%i" in a template */
} OwnName;

void own_name_find(const char *service, OwnName *ret);
void own_name_clear(OwnName *name);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OwnName, own_name_clear)

/* Is it a template or an instance? */
bool own_name_has_instance(const OwnName *own);

/* `text` of the service's file, as it has to be in the other unit: there, specifiers of the service's own name would
 * mean that one. Transfer full. */
char *own_name_replace(const char *text, const OwnName *own);

/* The same of this service's. */
char *own_name_replace_of(const char *service, const char *text);

/* The other unit. Transfer full. */
char *own_name_unit(const OwnName *own, const char *kind);

/* The file that says what it makes: with an instance all of the unit, else a drop-in of this name. Transfer full. */
char *own_name_file(const OwnName *own, const char *kind, const char *dropin);
