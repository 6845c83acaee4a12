/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/oci/user.h"
#include "libstart/request/dns-request.h"
#include "libstart/value/network-names.h"

/* The text of the files that Podman gives every container, from the host's own. Results are transfer full. All but
 * etc_localtime() are pure. */

/* The lines for etc_hosts() of a container with a network of its own: how it finds itself, and the machine where that
 * is known (`names`; NULL: it has loopback only). */
char *etc_own_hosts(const NetworkNames *names, const char *hostname, const char *container_name);

/* /etc/hosts: the `added` entries, which so are found first, and the host's (texts, or NULL), one address and its
 * names a line, without comments. Then the container's `own` lines, or NULL: but no name that is there already gets
 * another address. */
char *etc_hosts(const char *added, const char *host_hosts, const char *own);

/* The file with the servers that systemd-resolved or NetworkManager ask, if the host's /etc/resolv.conf names nobody
 * but them, on the host's loopback; else NULL. Podman's rule. */
const char *etc_resolv_conf_elsewhere(const char *host_resolv_conf);

/* /etc/resolv.conf, made of the host's (a text, or NULL) and of what the container is to have. Servers of its
 * networks, and else those that are asked for, replace the host's; without any, the host's domains and options follow
 * those that are asked for. `names` is NULL with the host's network; with another, servers on the host's loopback are
 * nobody's, nor are those of IPv6 where the container has no such address. Where none is left, Podman's two of
 * Google's count. */
char *etc_resolv_conf(const char *host_resolv_conf, const DnsRequest *dns, const NetworkNames *names);

/* Whose ids UserNS=keep-id keeps, and what the host's files call her. */
typedef struct KeptUser {
        uid_t uid;
        gid_t gid;
        char *name, *group;
} KeptUser;

/* passwd and group: the host's files. Names are NULL where these have none. */
KeptUser kept_user_find(uid_t uid, gid_t gid, const char *passwd, const char *group);
void kept_user_clear(KeptUser *kept);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KeptUser, kept_user_clear)

/* /etc/passwd and /etc/group with a line for a user who has none there, as programs call getpwuid() on themselves,
 * and before it one for whom keep-id keeps; NULL where nothing is missing. `text` is the image's file, or NULL. The
 * group is the one that was asked for, or else one with the user's own number: Podman's rule, though the user's
 * primary group is then 0. A home that passwd(5) cannot say, with a colon or a line end, becomes "/". */
char *etc_passwd(const char *text, const UserIdentity *user, const KeptUser *kept, const char *workdir);
char *etc_group(const char *text, const UserIdentity *user, const KeptUser *kept);

/* /run/.containerenv of a privileged container, by which tools in it know whose they are: Podman's lines, where the
 * id is the name. A root directory has no image (NULL). */
char *etc_containerenv(const char *name, const char *image, const char *image_id);

/* /etc/localtime for a time zone of the host's, or for "local", the host's own (tzfile(5)). `root` is where the
 * host's files are: "/", except in tests. `zone` is one that name_check_time_zone() has let pass. *ret_length because
 * there are NUL bytes in it. */
bool etc_localtime(const char *root, const char *zone, char **ret_content, gsize *ret_length, GError **error);
