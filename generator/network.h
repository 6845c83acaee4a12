/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"
#include "generator/keyturn-conf.h"

/* Network= and, since there is no bridge, what PublishPort= means without one. */
bool handle_network(Container *container, const Key *key, const Value *value, GError **error);
bool handle_publish_port(Container *container, const Key *key, const Value *value, GError **error);

/* Where neither the file nor its PodmanArgs= name a network, take that of keyturn.conf. Then check the published
 * ports. */
void network_finish(Container *container, KeyturnConf *conf);
