/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/key.h"
#include "generator/keyturn-conf.h"

/* Network= and, since there is no bridge, what PublishPort= means without one. */
KeyHandler handle_network, handle_expose_host_port, handle_publish_port;

/* Where neither the file nor its PodmanArgs= name a network, take that of keyturn.conf. Then check the published
 * ports. */
void network_finish(Container *container, KeyturnConf *conf);
