/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Does not return where this program is the payload of a container: see own-binary.c. Call it first in main(). */
void own_binary_refuse_container(void);
