/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/key.h"

/* Volume= and Mount=. */
KeyHandler handle_volume, handle_mount;
