/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/state-format.h"

#define FORMAT "format="

bool state_format_check(const char *path, const char *text, GError **error) {
        if (!g_str_has_prefix(text, FORMAT))
                return true;
        return error_set(error, KT_ERROR_UNSUPPORTED,
                         "'%s' was written by a newer keyturn (%.*s): install that one again, or remove the file "
                         "(keyturn-stability(7), UPGRADES, says what is lost then)",
                         path, (int) MIN(strcspn(text, "\n"), 40), text);
}
