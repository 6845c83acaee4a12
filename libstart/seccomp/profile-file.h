/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/seccomp/profile.h"

/* The file of a container's profile, looked for as podman does, and read. */

/* The profile of a container that names none: [containers] seccomp_profile of containers.conf (the last file
 * that sets it: /usr/share/containers/containers.conf, /etc/containers/containers.conf, and the *.conf of
 * /etc/containers/containers.conf.d by name), else /etc/containers/seccomp.json, else
 * /usr/share/containers/seccomp.json.
 *
 * root: "" or a directory that stands for /. Returns the path as it is inside of root. KT_ERROR_NOT_FOUND
 * if there is none at all (podman then has one built in), KT_ERROR_UNSUPPORTED if containers.conf says
 * "unconfined": no filter at all is for a container's own file to ask for. Transfer full. */
char *seccomp_default_profile_path(const char *root, GError **error);

/* Every file and directory, there or not, whose change could change that path, inside of root. Of char*. Transfer
 * full. */
GPtrArray *seccomp_default_profile_sources(const char *root, GError **error);

/* The text of the profile at `path` inside of `root` ("" or a directory that stands for /). Errors name
 * the file. Only a regular file is read, so that a FIFO cannot hold up a start. Transfer full. */
GBytes *seccomp_profile_read(const char *root, const char *path, GError **error);

/* The same, parsed. Transfer full. */
SeccompProfile *seccomp_profile_load(const char *root, const char *path, GError **error);
