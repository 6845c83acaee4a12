/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Where a power cut has left a mark (unsynced.h): see whether the store is whole, and say where it is not, or where
 * nobody can tell. Nothing is removed: a damaged image may be all that there is, and what Podman takes for damage
 * need not be any. The marks are gone then, but for those by which an update is taken back. */
void image_look_after_cut(void);
