/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/kinds/podman-option.h"

/* What PodmanArgs= and GlobalArgs= say, whose words their keys have noted. An option that libstart has is passed on;
 * one that stands for a key is given to that key; a few become settings of [Service]. Any other one of `podman` and
 * of `podman run` is refused, with what to write instead. Called after the keys of the section have been applied, as
 * on Podman's command line: what is said here counts. `known`: the options of its command; NULL: of podman run. */
void podman_args_apply(Container *container, const PodmanOptions *known);
