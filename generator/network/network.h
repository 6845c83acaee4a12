/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

/* Network= and what is asked of it: ports, addresses, names. Several lines of them make one network or several. */
KeyHandler handle_network, handle_expose_host_port, handle_publish_port, handle_ip, handle_network_alias;

/* --mac-address, which is no key. */
bool network_set_mac(Conversion *container, const char *value, GError **error);

/* Where neither the file nor its PodmanArgs= name a network: a bridge, if ports or addresses are asked for, else that
 * of keyturn.conf. Then put together what is asked for. network-unit.h makes it. */
void network_finish(Conversion *container);
