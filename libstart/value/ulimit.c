/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/base/error.h"
#include "libstart/value/ulimit.h"

static const struct {
        const char *name, *type;
} types[] = {
        { "core", "RLIMIT_CORE" },         { "cpu", "RLIMIT_CPU" },
        { "data", "RLIMIT_DATA" },         { "fsize", "RLIMIT_FSIZE" },
        { "locks", "RLIMIT_LOCKS" },       { "memlock", "RLIMIT_MEMLOCK" },
        { "msgqueue", "RLIMIT_MSGQUEUE" }, { "nice", "RLIMIT_NICE" },
        { "nofile", "RLIMIT_NOFILE" },     { "nproc", "RLIMIT_NPROC" },
        { "rss", "RLIMIT_RSS" },           { "rtprio", "RLIMIT_RTPRIO" },
        { "rttime", "RLIMIT_RTTIME" },     { "sigpending", "RLIMIT_SIGPENDING" },
        { "stack", "RLIMIT_STACK" },
};

static bool parse_limit(const char *value, guint64 *ret, GError **error) {
        if (g_str_equal(value, "-1") || g_str_equal(value, "unlimited")) {
                *ret = ULIMIT_UNLIMITED;
                return true;
        }
        if (!g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT64, ret, NULL))
                return error_set(error, KT_ERROR_USAGE, "'%s' is no limit: write a number, or -1 for no limit",
                                 value);
        return true;
}

/* podman takes the whole name, RLIMIT_NOFILE, too. */
static const char *find_type(const char *name, size_t length) {
        for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
                if ((strlen(types[i].name) == length && strncmp(types[i].name, name, length) == 0) ||
                    (strlen(types[i].type) == length && strncmp(types[i].type, name, length) == 0))
                        return types[i].type;
        return NULL;
}

static bool parse_limits(const char *limits, Ulimit *ulimit, GError **error) {
        g_auto(GStrv) parts = g_strsplit(limits, ":", -1);
        guint n = g_strv_length(parts);

        if (n < 1 || n > 2)
                return error_set(error, KT_ERROR_USAGE, "the form is NAME=SOFT[:HARD]");
        if (!parse_limit(parts[0], &ulimit->soft, error) || !parse_limit(parts[n - 1], &ulimit->hard, error))
                return false;
        if (ulimit->soft > ulimit->hard)
                return error_set(error, KT_ERROR_USAGE, "the soft limit is above the hard limit");
        return true;
}

bool ulimit_parse(const char *value, Ulimit *ret, GError **error) {
        const char *equals = strchr(value, '=');
        Ulimit ulimit = { 0 };

        if (g_str_equal(value, "host")) {
                *ret = ulimit;
                return true;
        }
        if (!equals)
                return error_set(error, KT_ERROR_USAGE, "ulimit '%s': the form is NAME=SOFT[:HARD], or host", value);
        ulimit.type = find_type(value, (size_t) (equals - value));
        if (!ulimit.type)
                return error_set(error, KT_ERROR_USAGE, "ulimit '%s': there is no limit '%.*s'; see podman-run(1)",
                                 value, (int) (equals - value), value);
        if (!parse_limits(equals + 1, &ulimit, error))
                return error_prefix(error, "ulimit '%s': ", value);
        *ret = ulimit;
        return true;
}
