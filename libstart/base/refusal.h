/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* In the service of a file that keyturn-generator has refused, each comment that begins so says what is wrong with
 * the file. Comments, as they can be read by exactly those who may read the file; everybody may see a command line.
 */
#define REFUSAL_MARK "Refused: "
