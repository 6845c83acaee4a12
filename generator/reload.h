/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/keys.h"

bool handle_reload_cmd(Container *container, const Key *key, const Value *value, GError **error);
bool handle_reload_signal(Container *container, const Key *key, const Value *value, GError **error);

/* ExecReload= for ReloadSignal= or ReloadCmd=. After the keys of [Container] have been handled. */
void reload_service(Container *container);
