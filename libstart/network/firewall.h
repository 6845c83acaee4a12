/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "libstart/network/network-conf.h"

/* Whether netavark has nothing to tell the firewall of a container without ports: rules are a network's
 * (masquerading, what may be sent on, the way to its DNS), and another container of keyturn's is in each of these,
 * for which they were made. After a flush, of nftables' rules, they are not there; other drivers' are not looked at,
 * and so are never ready.
 *
 * attachments: of Attachment. */
bool firewall_is_ready(const NetworkConf *conf, const char *unit, const GPtrArray *attachments);
