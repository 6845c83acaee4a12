/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/user.h"
#include "libstart/option/dns-request.h"

/* The text of the files that Podman gives every container, from the host's own. Results are transfer full. All but
 * etc_localtime() are pure. */

/* /etc/hosts: the `added` entries, which so are found first, and the host's (texts, or NULL), one address and its names
 * a line, without comments. With a network of its own (`own_name` not NULL) the container finds itself as well, but no
 * name that is there already gets another address. */
char *etc_hosts(const char *added, const char *host_hosts, const char *own_name, const char *container_name);

/* /etc/resolv.conf, made of the host's (a text, or NULL) and of what the container is to have. Servers that are asked for
 * replace the host's; without any, the host's domains and options follow those that are asked for. */
char *etc_resolv_conf(const char *host_resolv_conf, const DnsRequest *dns);

/* /etc/passwd and /etc/group with a line for a user who has none there, as programs call getpwuid() on themselves;
 * NULL where nothing is missing. `text` is the image's file, or NULL. The group is the one that was asked for, or else
 * one with the user's own number: Podman's rule, though the user's primary group is then 0. A home that passwd(5) cannot
 * say, with a colon or a line end, becomes "/". */
char *etc_passwd(const char *text, const UserIdentity *user, const char *workdir);
char *etc_group(const char *text, const UserIdentity *user);

/* /etc/localtime for a time zone of the host's, or for "local", the host's own (tzfile(5)). `root` is where the host's
 * files are: "/", except in tests. `zone` is one that name_check_time_zone() has let pass. *ret_length because there are
 * NUL bytes in it. */
bool etc_localtime(const char *root, const char *zone, char **ret_content, gsize *ret_length, GError **error);
