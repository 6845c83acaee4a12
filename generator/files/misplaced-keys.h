/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What belongs there instead of a key that people write into [Container], though it is in another section, or another
 * program's word: a sentence, or NULL. */
const char *misplaced_key_advice(const char *name);
