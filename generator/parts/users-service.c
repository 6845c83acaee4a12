/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/parts/users-service.h"

#define BY_ROOT \
        ", which only root's manager can have the kernel do: remove it, or write the file for the system's manager"
#define NO_FILTER "would filter nothing here" BY_ROOT ", with User= in [Service]; Network=none has no way out at all"

/* Those that systemd does by BPF programs, or with capabilities that a user's manager has not. */
static const struct {
        const char *section, *key, *advice;
} lines[] = {
        { "Keyturn", "Early", USERS_SERVICE_NOT_EARLY },
        { "Service", "AmbientCapabilities", "is for root's manager: write AddCapability= in [Container]" },
        { "Service", "BPFProgram", NO_FILTER },
        { "Service", "CapabilityBoundingSet", "is for root's manager: write DropCapability= in [Container]" },
        { "Service", "DeviceAllow",
          "would allow and forbid nothing here" BY_ROOT "; AddDevice= brings single nodes" },
        { "Service", "DevicePolicy", "would forbid nothing here" BY_ROOT "; AddDevice= brings single nodes" },
        { "Service", "IPAddressAllow", NO_FILTER },
        { "Service", "IPAddressDeny", NO_FILTER },
        { "Service", "IPEgressFilterPath", NO_FILTER },
        { "Service", "IPIngressFilterPath", NO_FILTER },
        { "Service", "PAMName", "is for root's manager: remove it" },
        { "Service", "RestrictFileSystems", "would restrict nothing here" BY_ROOT },
        { "Service", "RestrictNetworkInterfaces", NO_FILTER },
        { "Service", "SocketBindAllow", NO_FILTER },
        { "Service", "SocketBindDeny", NO_FILTER },
        { "Service", "SupplementaryGroups", "is for root's manager: write GroupAdd=keep-groups in [Container]" },
        { "Service", "StandardError", "is not there yet for users' managers but for journal and null: remove it" },
        { "Service", "StandardOutput", "is not there yet for users' managers but for journal and null: remove it" },
};

void users_service_check(Container *container) {
        static const char *const harmless[] = { "", "never", "journal", "null", "inherit", "auto", NULL };

        for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
                const UnitLine *line = container_line(container, lines[i].section, lines[i].key);

                /* Of that one, nothing is a set, too. */
                if (line &&
                    (!g_strv_contains(harmless, line->value) || g_str_equal(line->key, "CapabilityBoundingSet")))
                        container_problem(container, line, "%s", lines[i].advice);
        }
}
