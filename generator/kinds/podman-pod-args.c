/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "generator/kinds/podman-args.h"
#include "generator/network/network.h"
#include "libstart/base/error.h"

static bool share(Conversion *pod, const char *value, GError **error) {
        static const char *const kinds[] = { "ipc", "net", "uts", NULL };
        g_auto(GStrv) words = g_strsplit(value[0] == '+' ? value + 1 : value, ",", -1);
        g_autoptr(GString) list = g_string_new(value[0] == '+' ? pod->pod.share : "");

        for (char **word = words; *word; word++)
                if (g_strv_contains(kinds, *word))
                        g_string_append_printf(list, "%s%s", list->len > 0 ? "," : "", *word);
                else if ((*word)[0] && !g_str_equal(*word, "none") && !g_str_equal(*word, "user"))
                        return error_set(error, KT_ERROR_UNSUPPORTED,
                                         "'%s': the containers of a pod can share ipc, net and uts; each has its own "
                                         "processes and cgroup",
                                         *word);
        g_free(pod->pod.share);
        pod->pod.share = g_string_free(g_steal_pointer(&list), FALSE);
        return true;
}

#define IN_CONTAINERS(key) ADVICE("write " key " in each .container file")
#define IN_SLICE(setting) \
        ADVICE("write Slice=NAME.slice in [Service] of each .container file, and " setting " in that slice's unit")
#define NO_INFRA FINE("*") /* there is no infra container, whatever it is to be like */

static const PodmanOption options[] = {
        { "add-host", 0, VALUE, KEY("AddHost") },
        { "blkio-weight", 0, VALUE, IN_SLICE("IOWeight=") },
        { "blkio-weight-device", 0, LIST, IN_SLICE("IODeviceWeight=") },
        { "cgroup-manager", 0, VALUE, GLOBAL, FINE("*") },
        { "cgroup-parent", 0, VALUE, IN_CONTAINERS("Slice=") },
        { "cpu-shares", 'c', VALUE, IN_SLICE("CPUWeight=") },
        { "cpus", 0, VALUE, IN_SLICE("CPUQuota=") },
        { "cpuset-cpus", 0, VALUE, IN_SLICE("AllowedCPUs=") },
        { "cpuset-mems", 0, VALUE, IN_SLICE("AllowedMemoryNodes=") },
        { "device", 0, LIST, IN_CONTAINERS("AddDevice=") },
        { "device-read-bps", 0, VALUE, IN_SLICE("IOReadBandwidthMax=") },
        { "device-write-bps", 0, VALUE, IN_SLICE("IOWriteBandwidthMax=") },
        { "dns", 0, LIST, KEY("DNS") },
        { "dns-option", 0, LIST, KEY("DNSOption") },
        { "dns-search", 0, LIST, KEY("DNSSearch") },
        { "events-backend", 0, VALUE, GLOBAL, FINE("*") },
        { "exit-policy", 0, VALUE, KEY("ExitPolicy") },
        { "gidmap", 0, LIST, KEY("GIDMap") },
        { "gpus", 0, LIST, IN_CONTAINERS("AddDevice=nvidia.com/gpu=all") },
        { "help", 0, FLAG, NO_COMMAND },
        { "hostname", 0, VALUE, KEY("HostName") },
        { "hosts-file", 0, VALUE, IN_CONTAINERS("Volume=FILE:/etc/hosts:ro") },
        { "infra", 0, FLAG,
          FINE_OR("true",
                  "without one Podman's containers share nothing, and its service fails; remove the option") },
        { "infra-command", 0, VALUE, NO_INFRA },
        { "infra-conmon-pidfile", 0, VALUE, ADVICE("no process holds a pod; remove the option") },
        { "infra-image", 0, VALUE, NO_INFRA },
        { "infra-name", 0, VALUE, NO_INFRA },
        { "ip", 0, VALUE, KEY("IP") },
        { "ip6", 0, VALUE, KEY("IP6") },
        { "label", 'l', LIST, KEY("Label") },
        { "label-file", 0, VALUE, FINE("*") },
        { "log-level", 0, VALUE, GLOBAL, FINE("*") },
        { "mac-address", 0, VALUE, APPLY(network_set_mac) },
        { "memory", 'm', VALUE, IN_SLICE("MemoryMax=") },
        { "memory-swap", 0, VALUE, IN_SLICE("MemorySwapMax=") },
        { "module", 0, VALUE, GLOBAL, KEY("ContainersConfModule") },
        { "name", 'n', VALUE, KEY("PodName") },
        { "network", 0, VALUE, KEY("Network") },
        { "net", 0, VALUE, KEY("Network") },
        { "network-alias", 0, LIST, KEY("NetworkAlias") },
        { "no-hostname", 0, FLAG, FINE_OR("false", "write Volume=FILE:/etc/hostname:ro in each .container file") },
        { "no-hosts", 0, FLAG, FINE_OR("false", "write Volume=FILE:/etc/hosts:ro in each .container file") },
        { "pid", 0, VALUE, FINE_OR("private", "each container has its own processes; remove the option") },
        { "pod-id-file", 0, VALUE, ADVICE("a pod has no id but its name; remove the option") },
        { "publish", 'p', LIST, KEY("PublishPort") },
        { "replace", 0, FLAG, FINE("*") },
        { "restart", 0, VALUE, FINE_OR("no", "write Restart= in [Service] of each .container file") },
        { "runroot", 0, VALUE, GLOBAL, FINE("*") },
        { "security-opt", 0, VALUE },
        { "share", 0, VALUE, APPLY(share) },
        { "share-parent", 0, FLAG, FINE("*") },
        { "shm-size", 0, VALUE, KEY("ShmSize") },
        { "shm-size-systemd", 0, VALUE, IN_CONTAINERS("Tmpfs=/run:size=SIZE") },
        { "storage-driver", 0, VALUE, GLOBAL,
          FINE_OR("overlay", "keyturn can only mount images of the overlay driver") },
        { "subgidname", 0, VALUE, KEY("SubGIDMap") },
        { "subuidname", 0, VALUE, KEY("SubUIDMap") },
        { "sysctl", 0, VALUE },
        { "syslog", 0, FLAG, GLOBAL, FINE("*") },
        { "tmpdir", 0, VALUE, GLOBAL, FINE("*") },
        { "transient-store", 0, FLAG, GLOBAL, FINE("*") },
        { "uidmap", 0, LIST, KEY("UIDMap") },
        { "userns", 0, VALUE, KEY("UserNS") },
        { "uts", 0, VALUE, FINE_OR("private", "write HostName=%H for the host's name") },
        { "volume", 'v', VALUE, KEY("Volume") },
        { "volumes-from", 0, VALUE, ADVICE("write the same Volume= here") },
};

const PodmanOptions podman_pod_create = { "podman pod create", options, G_N_ELEMENTS(options) };
