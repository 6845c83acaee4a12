/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "libstart/base/error.h"
#include "libstart/value/capability.h"

/* By number. */
static const char *const names[CAPABILITY_COUNT] = {
        "CAP_CHOWN",
        "CAP_DAC_OVERRIDE",
        "CAP_DAC_READ_SEARCH",
        "CAP_FOWNER",
        "CAP_FSETID",
        "CAP_KILL",
        "CAP_SETGID",
        "CAP_SETUID",
        "CAP_SETPCAP",
        "CAP_LINUX_IMMUTABLE",
        "CAP_NET_BIND_SERVICE",
        "CAP_NET_BROADCAST",
        "CAP_NET_ADMIN",
        "CAP_NET_RAW",
        "CAP_IPC_LOCK",
        "CAP_IPC_OWNER",
        "CAP_SYS_MODULE",
        "CAP_SYS_RAWIO",
        "CAP_SYS_CHROOT",
        "CAP_SYS_PTRACE",
        "CAP_SYS_PACCT",
        "CAP_SYS_ADMIN",
        "CAP_SYS_BOOT",
        "CAP_SYS_NICE",
        "CAP_SYS_RESOURCE",
        "CAP_SYS_TIME",
        "CAP_SYS_TTY_CONFIG",
        "CAP_MKNOD",
        "CAP_LEASE",
        "CAP_AUDIT_WRITE",
        "CAP_AUDIT_CONTROL",
        "CAP_SETFCAP",
        "CAP_MAC_OVERRIDE",
        "CAP_MAC_ADMIN",
        "CAP_SYSLOG",
        "CAP_WAKE_ALARM",
        "CAP_BLOCK_SUSPEND",
        "CAP_AUDIT_READ",
        "CAP_PERFMON",
        "CAP_BPF",
        "CAP_CHECKPOINT_RESTORE",
};

const char *capability_name(unsigned int number) {
        return number < CAPABILITY_COUNT ? names[number] : NULL;
}

static bool parse_one(const char *name, guint64 *mask, GError **error) {
        const char *bare = g_ascii_strncasecmp(name, "CAP_", 4) == 0 ? name + 4 : name;

        if (g_ascii_strcasecmp(name, "all") == 0) {
                *mask |= CAPABILITY_ALL;
                return true;
        }
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (g_ascii_strcasecmp(names[i] + 4, bare) == 0) {
                        *mask |= G_GUINT64_CONSTANT(1) << i;
                        return true;
                }
        return error_set(error, KT_ERROR_USAGE, "there is no capability '%s'; see capabilities(7)", name);
}

bool capability_add(const char *value, guint64 *mask, GError **error) {
        g_auto(GStrv) parts = g_strsplit(value, ",", -1);
        guint64 more = 0;

        if (!parts[0])
                return error_set(error, KT_ERROR_USAGE, "the name of a capability is missing");
        for (size_t i = 0; parts[i]; i++)
                if (!parse_one(parts[i], &more, error))
                        return false;
        *mask |= more;
        return true;
}

bool capability_parse_all(const GPtrArray *values, guint64 *ret_mask, GError **error) {
        guint64 mask = 0;

        for (guint i = 0; i < values->len; i++)
                if (!capability_add(values->pdata[i], &mask, error))
                        return false;
        *ret_mask = mask;
        return true;
}

/* Podman's defaults. */
#define BIT(capability) (G_GUINT64_CONSTANT(1) << CAP_##capability)
#define DEFAULT_CAPABILITIES                                                                              \
        (BIT(CHOWN) | BIT(DAC_OVERRIDE) | BIT(FOWNER) | BIT(FSETID) | BIT(KILL) | BIT(NET_BIND_SERVICE) | \
         BIT(SETFCAP) | BIT(SETGID) | BIT(SETPCAP) | BIT(SETUID) | BIT(SYS_CHROOT))

bool bounding_set_check(guint64 added, guint64 dropped, GError **error) {
        guint64 both = added & dropped;

        if (added == CAPABILITY_ALL && dropped == CAPABILITY_ALL)
                return error_set(error, KT_ERROR_USAGE, "All capabilities are both added and dropped");
        if (added == CAPABILITY_ALL || dropped == CAPABILITY_ALL)
                return true; /* "all but these" */
        for (unsigned int i = 0; i < CAPABILITY_COUNT; i++)
                if (both >> i & 1)
                        return error_set(error, KT_ERROR_USAGE, "Capability '%s' is both added and dropped",
                                         capability_name(i));
        return true;
}

guint64 bounding_set_find(bool privileged, guint64 added, guint64 dropped, guint64 available) {
        guint64 mask = dropped == CAPABILITY_ALL ? added : (DEFAULT_CAPABILITIES | added) & ~dropped;

        return available & (privileged ? ~(dropped & ~added) : mask);
}

bool bounding_set_read(guint64 *ret, GError **error) {
        guint64 set = 0;

        for (unsigned int cap = 0; cap < CAPABILITY_COUNT; cap++) {
                int r = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

                if (r < 0)
                        return error_set_errno(error, errno, "Cannot see whether there is %s", names[cap]);
                set |= (guint64) r << cap;
        }
        *ret = set;
        return true;
}
