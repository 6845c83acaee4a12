/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/unit/key.h"

KeyHandler handle_reload_cmd, handle_reload_signal;

/* ExecReload= for ReloadSignal= or ReloadCmd=. After the keys of [Container] have been handled. */
void reload_service(Conversion *container);
