/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "libstart/image/tool-words.h"

/* Where a power cut has left a mark (unsynced.h): see whether the store is whole, and remove what is not, if `name`
 * can be brought again. Then the marks are gone. Where it cannot, or nobody can tell, what there is stays, with a
 * warning. request: NULL where the image is not pulled but built. */
void image_mend(const PullRequest *request, const char *name);
