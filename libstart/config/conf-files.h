/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* The search path that podman's configuration files share (storage.conf, registries.conf). */
typedef struct ConfFiles {
        const char *name;        /* "storage": storage.conf and storage.conf.d */
        const char *environment; /* variable with the only file to read; with "_OVERRIDE", one more, last */
} ConfFiles;

/* Given the contents of one file. False ends the reading, with *error set. */
typedef bool (*ConfFileHandler)(const char *path, const char *text, size_t length, void *data, GError **error);

/* Hands the files that there are to the handler, so that later ones can override earlier ones: the first
 * main file of /etc/containers and /usr/share/containers, then the drop-ins (NAME.conf.d,
 * NAME.rootful.conf.d) sorted by name, those of /etc in place of those of the same name in /usr/share.
 *
 * root: "" or the directory that stands for /; not applied to what the environment names. */
bool conf_files_read(const ConfFiles *files, const char *root, ConfFileHandler handler, void *data, GError **error);

/* Whether the word stands anywhere but behind "#". These files are long, and most say nothing but defaults there, so
 * most need not be parsed. */
bool conf_file_mentions(const char *text, size_t length, const char *word);
