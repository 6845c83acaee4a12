/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <net/if.h>
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/names.h"

bool name_is_made_of(const char *value, const char *others) {
        bool ok = *value;

        for (const char *c = value; *c && ok; c++)
                ok = g_ascii_isalnum(*c) || strchr(others, *c);
        return ok;
}

/* The name also is one of a directory and of libcrun's state. It often has a unit's name in it, and so may have all
 * the characters that those have: the instances of a socket with Accept=yes have colons. Podman refuses these. */
bool name_check_container(const char *value, GError **error) {
        return (g_ascii_isalnum(value[0]) && name_is_made_of(value, "_.-:@\\")) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is no name of a container: letters, digits and '_.-:@\\', the first of them a letter "
                         "or digit",
                         value);
}

bool name_check_volume(const char *value, GError **error) {
        return (g_ascii_isalnum(value[0]) && name_is_made_of(value, "_.-")) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is no absolute path, and no name of a volume: letters, digits, '_', '.' and '-', the "
                         "first of them a letter or digit",
                         value);
}

bool name_check_network(const char *value, GError **error) {
        return (g_ascii_isalnum(value[0]) && name_is_made_of(value, "_.-") && strlen(value) <= 200) ||
               error_set(
                       error, KT_ERROR_USAGE,
                       "'%s' is no name of a network: letters, digits, '_', '.' and '-', the first of them a letter "
                       "or digit",
                       value);
}

bool name_is_host(const char *value) {
        return value[0] != '-' && strlen(value) <= 64 && name_is_made_of(value, "_.-");
}

bool name_check_host(const char *value, GError **error) {
        return name_is_host(value) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no host name: 1 to 64 letters, digits, '.', '-' and '_'",
                         value);
}

char *name_ahead_unit(const char *kind, const char *stem) {
        return g_strdup_printf("keyturn-%s%c%s.service", kind, strchr(stem, '@') ? '-' : '@', stem);
}

/* Without dots, of which no zone has one, none leads out of the zones' directory. */
bool name_check_time_zone(const char *value, GError **error) {
        return (g_ascii_isalnum(value[0]) && name_is_made_of(value, "_-+/")) ||
               error_set(error, KT_ERROR_USAGE,
                         "'%s' is no name of a time zone, e.g. Europe/Berlin; or local, for the host's", value);
}

/* The kernel's rule, and no character that means something elsewhere ('%' and '*' are patterns to programs). */
bool name_check_interface(const char *value, GError **error) {
        if (strlen(value) >= IFNAMSIZ || !name_is_made_of(value, "_.-") || value[0] == '-' || value[0] == '.')
                return error_set(
                        error, KT_ERROR_USAGE,
                        "'%s' is no name of an interface: up to 15 letters, digits, '_', '.' and '-', the first "
                        "of them a letter, a digit or '_'",
                        value);
        return !g_str_equal(value, "lo") ||
               error_set(error, KT_ERROR_USAGE, "'lo' is the loopback interface: another name is needed");
}
