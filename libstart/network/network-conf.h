/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

/* What containers.conf(5) says of networks. */
typedef struct NetworkConf {
        char *config_dir;         /* [network] network_config_dir: where networks are described */
        char *default_network;    /* [network] default_network */
        char *default_subnet;     /* [network] default_subnet */
        char *firewall_driver;    /* [network] firewall_driver; NULL: netavark's choice */
        GPtrArray *helpers;       /* [engine] helper_binaries_dir: of char* */
        GPtrArray *pasta_options; /* [network] pasta_options: of char* */
        GArray *pools;            /* [network] default_subnet_pools: of SubnetPool; empty: podman's own */
        guint dns_port;           /* [network] dns_bind_port; 0: netavark's choice */
} NetworkConf;

void network_conf_clear(NetworkConf *conf);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(NetworkConf, network_conf_clear)

/* root: "" or the directory that stands for /. */
bool network_conf_read(const char *root, NetworkConf *ret, GError **error);

/* The path of a program that Podman calls, too. Transfer full; NULL: it is not installed. */
char *network_conf_find_helper(const NetworkConf *conf, const char *name);
