/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* Runs `netavark VERB NETNS` with a document on its standard input, and waits. verb: "setup" or "teardown". Its state
 * is in Podman's directory, so that the containers of both find each other by name, of one aardvark-dns.
 *
 * ret_output: what it has printed; transfer full, NULL if nobody asks. KT_ERROR_NOT_FOUND: it is not installed.
 * KT_ERROR_NOT_EXECUTABLE: it could not be run, or was killed, and so has said nothing about the network. */
bool netavark_run(const NetworkConf *conf, const char *verb, const char *netns, const char *document,
                  char **ret_output, GError **error);

/* `netavark setup` where the firewall has nothing to learn: see firewall_is_ready(). */
bool netavark_setup_without_rules(const NetworkConf *conf, const char *netns, const char *document, char **ret_output,
                                  GError **error);

/* Fails with the name of the package that is missing. with_dns: whether a network with names is to be set up. */
bool netavark_check(const NetworkConf *conf, bool with_dns, GError **error);
