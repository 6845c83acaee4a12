/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/run/timezone.h"

#define ZONES "usr/share/zoneinfo"
#define MAGIC "TZif"

bool timezone_read(const char *root, const char *zone, char **ret_content, gsize *ret_length, GError **error) {
        bool local = g_str_equal(zone, "local");
        g_autofree char *path = local ? g_build_filename(root, "etc/localtime", NULL) :
                                        g_build_filename(root, ZONES, zone, NULL);
        g_autofree char *content = NULL;
        gsize length = 0;

        /* Directories and lists are among the zones; libc would take them for UTC, and say nothing. */
        if (!g_file_get_contents(path, &content, &length, NULL) || length < strlen(MAGIC) ||
            memcmp(content, MAGIC, strlen(MAGIC)) != 0)
                return local ? error_set(
                                       error, KT_ERROR_FAILED,
                                       "The host has no time zone to pass on: '%s' is no zone; name one, or set the "
                                       "host's (timedatectl set-timezone)",
                                       path) :
                               error_set(error, KT_ERROR_FAILED,
                                         "There is no time zone '%s': '%s' is no zone; name one that is there "
                                         "(timedatectl list-timezones), or install tzdata",
                                         zone, path);
        *ret_content = g_steal_pointer(&content);
        *ret_length = length;
        return true;
}
