/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What `systemctl status keyturn-seccomp` shows (sd_notify(3)'s STATUS=). Nothing happens where nobody
 * listens. Spoken directly, since libsystemd cannot be linked statically and loading it would double this
 * program's run time. */
void status_send(const char *text);
