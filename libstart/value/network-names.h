/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What a container's /etc/hosts and /etc/resolv.conf say of the networks that it is in: the file `names` that
 * keyturn-network leaves beside the namespace. Each line is a word and its values, with blanks between:
 *
 *   host ADDRESS NAME...    an address of the container, and names of it
 *   nameserver ADDRESS      who answers
 *   search DOMAIN
 *   gateway ADDRESS         the machine, as the container sees it
 *   forwarder ADDRESS       who asks the machine's servers, which are the next ones
 *   id ID                   what it was made for: a start that is for something else has it made anew
 *
 * Other lines are for others. */
typedef struct NetworkNames {
        char **lines;                         /* owned; the strings below are in it */
        GPtrArray *addresses;                 /* of char* */
        GPtrArray *aliases;                   /* of char*: for each address its names with blanks between, or "" */
        GPtrArray *servers, *search;          /* of char* */
        const char *gateway, *id, *forwarder; /* or NULL */
} NetworkNames;

/* Never fails: what is not understood is left out. */
void network_names_parse(const char *text, NetworkNames *ret);
void network_names_clear(NetworkNames *names);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NetworkNames, network_names_clear)
