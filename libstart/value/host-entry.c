/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/host-entry.h"
#include "libstart/value/ip-address.h"
#include "libstart/value/names.h"

static bool check_address(const char *address, GError **error) {
        IpAddress any;

        return g_str_equal(address, HOST_GATEWAY) || ip_address_parse(address, &any) ||
               error_set(error, KT_ERROR_USAGE, "'%s' is no address: the form is NAME[;NAME...]:ADDRESS", address);
}

/* Another character, such as a blank or a line end, could begin another entry of the file. */
static bool check_names(char *const *names, GError **error) {
        for (char *const *name = names; *name; name++)
                if (!name_is_made_of(*name, "_.-"))
                        return error_set(error, KT_ERROR_USAGE,
                                         "'%s' is no name of a host: letters, digits, '.', '-' and '_'", *name);
        return true;
}

static bool append_one(GString *lines, const char *entry, GError **error) {
        const char *colon = strchr(entry, ':');
        g_autofree char *all = NULL, *joined = NULL;
        g_auto(GStrv) names = NULL;

        if (!colon || colon == entry)
                return error_set(error, KT_ERROR_USAGE, "'%s': the form is NAME[;NAME...]:ADDRESS", entry);
        all = g_strndup(entry, (gsize) (colon - entry));
        names = g_strsplit(all, ";", -1);
        if (!check_names(names, error) || !check_address(colon + 1, error))
                return false;
        joined = g_strjoinv(" ", names);
        g_string_append_printf(lines, "%s\t%s\n", colon + 1, joined);
        return true;
}

bool host_entry_append(GString *lines, const char *value, GError **error) {
        g_auto(GStrv) entries = g_strsplit(value, ",", -1);

        if (!*entries)
                return append_one(lines, "", error);
        for (char **entry = entries; *entry; entry++)
                if (!append_one(lines, *entry, error))
                        return false;
        return true;
}
