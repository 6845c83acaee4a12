/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "libstart/ctl/report/redact.h"
#include "libstart/request/launch-option.h"

/* Quadlet's, systemd's for what is about order and limits, and none that takes free text. */
static const char *const shown_keys[] = {
        "AddCapability",
        "AddDevice",
        "AddHost",
        "After",
        "Alias",
        "AllTags",
        "AllowedCPUs",
        "Also",
        "AmbientCapabilities",
        "AppArmor",
        "Arch",
        "Artifact",
        "AutoUpdate",
        "Before",
        "BindsTo",
        "CPUQuota",
        "CPUWeight",
        "CapabilityBoundingSet",
        "CertDir",
        "CgroupsMode",
        "ConfigMap",
        "Conflicts",
        "ContainerName",
        "ContainersConfModule",
        "Copy",
        "DNS",
        "DNSOption",
        "DNSSearch",
        "DefaultDependencies",
        "DefaultInstance",
        "Delegate",
        "DeviceAllow",
        "DevicePolicy",
        "DisableDNS",
        "Driver",
        "DropCapability",
        "Early",
        "EnvironmentFile",
        "EnvironmentHost",
        "ExitCodePropagation",
        "ExitPolicy",
        "ExposeHostPort",
        "File",
        "ForceRM",
        "GID",
        "GIDMap",
        "Gateway",
        "Group",
        "GroupAdd",
        "HealthInterval",
        "HealthLogDestination",
        "HealthMaxLogCount",
        "HealthMaxLogSize",
        "HealthOnFailure",
        "HealthRetries",
        "HealthStartPeriod",
        "HealthStartupInterval",
        "HealthStartupRetries",
        "HealthStartupSuccess",
        "HealthStartupTimeout",
        "HealthTimeout",
        "HostName",
        "HttpProxy",
        "IP",
        "IP6",
        "IPAMDriver",
        "IPRange",
        "IPv6",
        "IgnoreFile",
        "Image",
        "ImageTag",
        "ImageVolume",
        "InterfaceName",
        "Internal",
        "KillMode",
        "KillSignal",
        "KubeDownForce",
        "LimitCORE",
        "LimitMEMLOCK",
        "LimitNOFILE",
        "LimitNPROC",
        "LogDriver",
        "LogFields",
        "Mask",
        "Memory",
        "MemoryHigh",
        "MemoryMax",
        "MemorySwapMax",
        "Mount",
        "Network",
        "NetworkAlias",
        "NetworkDeleteOnStop",
        "NetworkName",
        "NoNewPrivileges",
        "Notify",
        "NotifyAccess",
        "OS",
        "OnFailure",
        "PartOf",
        "PidsLimit",
        "Pod",
        "PodName",
        "Policy",
        "PrivateDevices",
        "PrivateTmp",
        "ProtectHome",
        "ProtectSystem",
        "PublishPort",
        "Pull",
        "Quiet",
        "ReadOnly",
        "ReadOnlyTmpfs",
        "ReloadSignal",
        "RemainAfterExit",
        "RemapGid",
        "RemapUid",
        "RemapUidSize",
        "RemapUsers",
        "RequiredBy",
        "Requires",
        "RequiresMountsFor",
        "Restart",
        "RestartPreventExitStatus",
        "RestartSec",
        "RestrictNamespaces",
        "Retry",
        "RetryDelay",
        "Rootfs",
        "RunInit",
        "Runtime",
        "RuntimeDirectory",
        "SeccompProfile",
        "SecurityLabelDisable",
        "SecurityLabelFileType",
        "SecurityLabelLevel",
        "SecurityLabelNested",
        "SecurityLabelType",
        "ServiceName",
        "SetWorkingDirectory",
        "ShmSize",
        "Slice",
        "SourcePath",
        "StandardError",
        "StandardOutput",
        "StartLimitBurst",
        "StartLimitIntervalSec",
        "StartWithPod",
        "StopSignal",
        "StopTimeout",
        "Store",
        "SubGIDMap",
        "SubUIDMap",
        "Subnet",
        "SuccessExitStatus",
        "SyslogIdentifier",
        "SystemCallFilter",
        "TLSVerify",
        "Target",
        "TasksMax",
        "TimeoutSec",
        "TimeoutStartSec",
        "TimeoutStopSec",
        "Timezone",
        "Tmpfs",
        "Type",
        "UID",
        "UIDMap",
        "UMask",
        "Ulimit",
        "Umask",
        "Unmask",
        "UpheldBy",
        "User",
        "UserNS",
        "Variant",
        "VolatileTmp",
        "Volume",
        "VolumeName",
        "WantedBy",
        "Wants",
        "WatchdogSec",
        "WorkingDir",
        "WritableLayerInodes",
        "WritableLayerSize",
        "Yaml",
        NULL,
};

/* Known, and with values that are not shown. */
static const char *const hidden_keys[] = {
        "Annotation", "AuthFile",        "BuildArg",
        "Creds",      "DecryptionKey",   "Description",
        "Device",     "Entrypoint",      "Environment",
        "Exec",       "HealthCmd",       "HealthStartupCmd",
        "Label",      "LoadCredential",  "LogOpt",
        "Options",    "PassEnvironment", "ReloadCmd",
        "Secret",     "SetCredential",   "SetCredentialEncrypted",
        "Sysctl",     "Variable",        NULL,
};

static bool is_shown(const char *key) {
        return g_strv_contains(shown_keys, key);
}

/* Of a value that is shown, what stands before the @ of a URL or of a registry: Image=https://me:word@host. */
static void append_shown(GString *out, const char *value) {
        const char *at = strrchr(value, '@'), *slashes = strstr(value, "://");

        if (at && slashes && slashes < at)
                g_string_append_printf(out, "%.*s" REDACTED "%s", (int) (slashes - value) + 3, value, at);
        else
                g_string_append(out, value);
}

/* Only names of our own table: any other word may be a password, whatever it begins with. */
static void append_options(GString *out, const char *value) {
        g_auto(GStrv) words = g_strsplit_set(value, " \t\"'", -1);

        g_string_append(out, REDACTED);
        for (char **word = words; *word; word++) {
                size_t length = strcspn(*word, "=");

                if (g_str_has_prefix(*word, "--") && launch_option_find(*word + 2, length - 2))
                        g_string_append_printf(out, " %.*s " REDACTED, (int) length, *word);
        }
}

static bool has_options(const char *key) {
        return g_str_has_prefix(key, "Exec") || g_str_equal(key, "PodmanArgs") || g_str_equal(key, "GlobalArgs");
}

static void append_line(GString *out, const char *line, bool is_continued) {
        const char *equals = strchr(line, '=');
        g_autofree char *key = equals ? g_strstrip(g_strndup(line, (gsize) (equals - line))) : NULL;
        g_autofree char *value = equals ? g_strstrip(g_strdup(equals + 1)) : NULL;

        if (line[0] == '[' && g_str_has_suffix(line, "]") && !equals)
                g_string_append(out, line);
        else if (!key)
                g_string_append(out, REDACTED);
        else if (is_shown(key) && !is_continued)
                g_string_append_printf(out, "%s=", key), append_shown(out, value);
        else if (has_options(key))
                g_string_append_printf(out, "%s=", key), append_options(out, value);
        else /* a key that is known to nobody may be a part of a value */
                g_string_append_printf(out, "%s=" REDACTED,
                                       is_shown(key) || g_strv_contains(hidden_keys, key) ? key : REDACTED);
        g_string_append_c(out, '\n');
}

/* Lines that a backslash continues are one. Podman and systemd do not agree which these are, where a blank is behind
 * the backslash or an empty line follows: no such value is shown, and an empty line does not end it. */
char *redact_unit(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GString) joined = g_string_new(NULL);
        GString *out = g_string_new(NULL);
        bool is_continued = false;

        for (char **line = lines; *line; line++) {
                char *stripped = g_strstrip(*line);
                bool goes_on = g_str_has_suffix(stripped, "\\");

                if (stripped[0] == '#' || stripped[0] == ';' || (!stripped[0] && (joined->len == 0 || line[1])))
                        continue;
                g_string_append_len(joined, stripped, (gssize) strlen(stripped) - goes_on);
                if (goes_on && line[1]) {
                        g_string_append_c(joined, ' ');
                        is_continued = true;
                        continue;
                }
                append_line(out, joined->str, is_continued);
                g_string_truncate(joined, 0);
                is_continued = false;
        }
        return g_string_free(out, FALSE);
}

/* The key that a message names, between "'" and "=':". Transfer full; NULL: none. */
static char *find_key(const char *message) {
        const char *begin = strstr(message, ": '"), *end = begin ? strstr(begin, "=': ") : NULL;

        return end ? g_strndup(begin + 3, (gsize) (end - begin - 3)) : NULL;
}

/* Behind the last digits of the first ":12: ", or the first word. */
static size_t find_place(const char *message) {
        static const char digits[] = "0123456789";

        for (const char *at = strchr(message, ':'); at; at = strchr(at + 1, ':')) {
                size_t n = strspn(at + 1, digits);

                if (n > 0 && at[n + 1] == ':')
                        return (size_t) (at - message) + n + 2;
        }
        return strcspn(message, " ");
}

char *redact_messages(const char *text) {
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        GString *out = g_string_new(NULL);

        for (char **line = lines; *line; line++) {
                g_autofree char *key = find_key(*line);

                if (!**line)
                        continue;
                if (key && is_shown(key))
                        append_shown(out, *line);
                else
                        g_string_append_printf(out, "%.*s " REDACTED, (int) find_place(*line), *line);
                g_string_append_c(out, '\n');
        }
        return g_string_free(out, FALSE);
}
