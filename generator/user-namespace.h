/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/key.h"

/* RemapUsers=, RemapUid=, RemapGid= and RemapUidSize=, which Podman has given up for UserNS=, UIDMap= and GIDMap=. */
KeyHandler handle_remap;

/* What the keys of a user namespace say together, after all of them and PodmanArgs=. */
void user_namespace_finish(Container *container);
