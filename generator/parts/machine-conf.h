/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/conversion.h"
#include "generator/unit/writer.h"

/* What of containers.conf(5) and storage.conf(5) units depend on. Read when it is first asked for. Where a file is
 * broken it counts for nothing here: a start says what is wrong with it. */
typedef struct MachineConf MachineConf;

/* root: NULL for this machine's. */
MachineConf *machine_conf_new(const char *root);
void machine_conf_free(MachineConf *conf);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MachineConf, machine_conf_free)

/* The directory of named volumes. */
const char *machine_conf_volumes(MachineConf *conf);

/* Whether containers.conf says itself where netavark and its like are. */
bool machine_conf_has_helpers(MachineConf *conf);

/* [containers] label=false: no container has a label of its own but one whose file asks for a part of it. */
void machine_conf_label(MachineConf *conf, Conversion *container);

/* The program of an OCI runtime, by its name or path. For a name, containers.conf lists programs ([engine.runtimes]):
 * the first that is there is taken. Else it is looked for where programs are. Transfer full. */
char *machine_conf_find_runtime(const MachineConf *conf, const char *name, GError **error);

/* Images and volumes in another place than usual: what needs them waits for that to be mounted. */
void machine_conf_mounts(MachineConf *conf, Service *service);

/* The same for the services that are shipped. */
void machine_conf_write(MachineConf *conf, Writer *writer, const char *origin);
