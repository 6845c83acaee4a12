/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/base/path-value.h"
#include "libstart/request/network-mode.h"
#include "libstart/value/names.h"

/* A directory below /run/keyturn, named like a unit; those that begin with a dot are nobody's. */
static bool check_name(const char *name, GError **error) {
        return (name[0] != '.' && name_is_made_of(name, ":-_.\\@+")) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no name of a unit: letters, digits and ':-_.\\@'", name);
}

bool network_mode_parse(const char *value, NetworkChoice *ret, GError **error) {
        static const struct {
                const char *prefix;
                NetworkMode mode;
                bool (*check)(const char *value, GError **error);
                bool is_owned;
        } modes[] = {
                { "pinned:", NETWORK_PINNED, check_name, false },
                { "owned:", NETWORK_PINNED, check_name, true },
                { "ns:", NETWORK_PATH, path_value_check, false },
                { "container:", NETWORK_CONTAINER, check_name, false },
                { "podman:", NETWORK_PODMAN, name_check_container, false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++)
                if (g_str_has_prefix(value, modes[i].prefix)) {
                        *ret = (NetworkChoice) { modes[i].mode, value + strlen(modes[i].prefix), modes[i].is_owned };
                        return modes[i].check(ret->of, error);
                }
        *ret = (NetworkChoice) { g_str_equal(value, "none") ? NETWORK_NONE : NETWORK_HOST };
        if (value[0] == '\0')
                return error_set(error, KT_ERROR_USAGE, "the network is empty: write host or none");
        return g_str_equal(value, "host") || g_str_equal(value, "none") ||
               error_set(error, KT_ERROR_UNSUPPORTED,
                         "network '%s' is not supported: use host (the machine's own network) or none "
                         "(loopback only)",
                         value);
}

bool network_mode_is_pasta(const char *value) {
        size_t length = strlen("pasta");

        return strncmp(value, "pasta", length) == 0 && (value[length] == '\0' || value[length] == ':');
}
