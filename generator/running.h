/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Containers that run on while their files are gone, or refused. Of a file that is gone: without a unit one would
 * be stopped by other signals than it was to be, its directory would stay, and nobody would find it by its name. A
 * pod would stop beside its containers, and leave its namespaces and the Secrets of a .kube file; what is mounted
 * for Device= of a volume would stay. It is nobody's mistake: nothing is said of them. Of one that is refused: it
 * stays in the pod that it runs in. One that asks for no network any more keeps the one that it has, and so does one
 * that is masked, and its pod. Called last. */
void running_put(Run *run);

/* The network of an instance has a unit as long as a file asks for it, deleted or not. Without one it would stay when
 * nobody needs it any more, with its address and its ports. */
void running_put_networks(const Run *run);
