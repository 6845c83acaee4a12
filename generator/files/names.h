/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* Names of Quadlet files and of units; text only. */

/* Of a service that cannot have the name that it asks for. */
#define NAME_NONE "unnamed.service"

/* A name's last suffix if it is one of Quadlet's, ".container" for example, else NULL. Inside `name`. */
const char *name_suffix(const char *name);

/* "foo@.container": a template, of which only instances run. */
bool name_is_template(const char *name);

/* "foo@.container" and "foo@bar.container", but not "foo.container". */
bool name_has_at(const char *name);

/* The section that the service of such a file is made of, "Container" for example. NULL: it is none of Quadlet's. */
const char *name_section(const char *name);

/* "foo@bar.container" -> "foo@.container"; NULL for what is no instance. Transfer full. */
char *name_template_of(const char *name);

/* "foo@.service", "bar" -> "foo@bar.service". Transfer full. */
char *name_instance(const char *template, const char *instance);

/* The service of a file: "foo.container" -> "foo.service", "foo.pod" -> "foo-pod.service",
 * "foo@.volume" -> "foo-volume@.service", or what ServiceName= says (may be NULL), with or without ".service". Fails
 * where the result is no name of a unit, or one that keyturn needs itself. Transfer full. */
char *name_service(const char *file_name, const char *service_name, GError **error);

/* The name that Podman gives to what a file makes: "data.volume" -> "systemd-data", "data@.volume" ->
 * "systemd-data-%i", of which an instance with a file of its own has its part. Transfer full. */
char *name_default(const char *file_name);

/* The service's RuntimeDirectory=, in which the container's state is. Transfer none. */
const char *name_state_directory(const char *service);

/* Letters, digits and ":-_.\@", at most 255, with a suffix. */
bool name_is_unit(const char *name);

/* The directories whose drop-ins belong to "foo-bar@i.container", most specific first: foo-bar@i.container.d,
 * foo-bar@.container.d, foo-@.container.d, foo-.container.d, container.d. Transfer full. */
GPtrArray *name_dropin_dirs(const char *file_name);
