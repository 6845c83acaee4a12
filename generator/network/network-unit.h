/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/parts/machine-conf.h"
#include "generator/unit/conversion.h"
#include "generator/unit/writer.h"

/* The unit that makes a container's (or pod's) network ahead of it and keeps it over restarts:
 * keyturn-network@NAME.service, with a drop-in that says what is to be made; of a template or an instance,
 * keyturn-network-NAME@INSTANCE.service. */

/* To be called when the container's name is known. Nothing where it is in no network that is made for it. */
void network_unit_finish(Conversion *container);

/* Refuses the container if what makes its network is not installed: netavark, or of a user's pasta. */
void network_unit_check(Conversion *container, const Tree *tree, MachineConf *conf);

/* The unit, and that the container's service wants it, is stopped with it, and lets it stay for a moment. */
void network_unit_write(Conversion *container, Writer *writer);

/* Wants= and PartOf= alone, for one that is refused: it must say why, whatever becomes of the network, but may still
 * run. */
void network_unit_depend(Conversion *container);

/* A file that cannot be read may have been that of a container with a network, which still runs. */
void network_unit_assume(Conversion *container);

/* The drop-in of what runs on while its file says something else. */
#define RUNNING_DROPIN "50-keyturn-running.conf"

/* A network that the service runs in stays until that stops, although its file asks for none any more, be it that of
 * the template. Nothing where it does ask. Called last.
 * asking: the service, or the template, that the file makes; NULL: systemd does not know what that asks for. needs:
 * lines of what the network needs itself. */
void network_unit_keep(const char *service, const char *asking, const char *needs, bool is_users, Writer *writer);

/* What ends the network of a template's instances where no file asks for it any more, to be written later than
 * what all others say. template: the service. */
void network_unit_write_gone(const char *template, bool is_users, Writer *writer);
