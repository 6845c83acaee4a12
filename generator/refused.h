/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "generator/run.h"

/* Write the service of a refused file: its start fails and says what is wrong with the file, so that `systemctl
 * start`, `status` and `--failed` show it. Everything else of the service stays: a container that still runs is
 * stopped as it would have been, and keyturnctl finds it. */
void refused_put(const Run *run, Conversion *container);

/* The same of a part of a .kube file, another part of which is refused. why: what is said of that one. */
void refused_put_part(const Run *run, const SourceFile *source, const char *why);

/* The same of a file that cannot be read, which is said: what still runs must be stopped as it would have been. */
void refused_put_unreadable(Run *run, const SourceFile *source);

/* Note what is wrong with the lines of a .kube file itself. Called before its parts are made. */
void refused_note_kube(Run *run, const SourceFile *kube);
