/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "generator/handlers.h"
#include "generator/keys.h"

/* Why and what instead. Each ends a line "FILE:LINE: 'KEY=': not supported: ...". */
#define NOT_YET "not in this version of keyturn; "
#define NO_BRIDGE "containers have the host's network or none, so there is no bridge; "
#define NO_PULL "keyturn never pulls an image; "
#define NO_HEALTH NOT_YET "use a timer and a service of your own, or WatchdogSec= in [Service] with Notify=true"
#define NO_SELINUX NOT_YET "SELinux labels of containers are not set"
#define NO_USERNS NOT_YET "containers share the host's user namespace; use User= for a payload that is not root"
#define OLD_USERNS "out of use in Podman, too; containers share the host's user namespace here"

/* Every key that Quadlet has in [Container], and how Podman reads it. man keyturn.container(5) lists the
 * same. */
const Key keys_container[] = {
        { "AddCapability", READ_WORDS, set_option, "cap-add" },
        { "AddDevice", READ_WORDS, handle_add_device, NULL },
        { "AddHost", READ_LINES, set_option, "add-host" },
        { "Annotation", READ_PAIRS, set_option, "annotation" },
        { "AppArmor", READ_LAST, NULL, NOT_YET "containers run without a profile of their own" },
        { "AutoUpdate", READ_LAST, NULL, NO_PULL "remove the key and update images with Podman" },
        { "CgroupsMode", READ_LAST, NULL, "the payload runs in the cgroup of its service; use Slice= in [Service]" },
        { "ContainerName", READ_LAST, set_option, "name" },
        { "ContainersConfModule", READ_LINES, NULL, "containers.conf is not read; write the settings as keys" },
        { "DNS", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DNSOption", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DNSSearch", READ_LINES, NULL, NO_BRIDGE "/etc/resolv.conf is the host's; Volume= can replace it" },
        { "DropCapability", READ_WORDS, set_option, "cap-drop" },
        { "Entrypoint", READ_LAST_SET, set_option, "entrypoint" },
        { "Environment", READ_PAIRS, set_option, "env" },
        { "EnvironmentFile", READ_ARGS, handle_environment_file, NULL },
        { "EnvironmentHost", READ_BOOLEAN, set_option, "env-host" },
        { "Exec", READ_LAST_ARGS, handle_exec, NULL },
        { "ExposeHostPort", READ_LINES, NULL, NO_BRIDGE "remove the key: it does nothing with these networks" },
        { "GIDMap", READ_WORDS, NULL, NO_USERNS },
        { "GlobalArgs", READ_ARGS, NULL,
          "there is no podman command; additional image stores are read from storage.conf" },
        { "Group", READ_LAST, handle_group, NULL },
        { "GroupAdd", READ_LINES, set_option, "group-add" },
        { "HealthCmd", READ_LAST, NULL, NO_HEALTH },
        { "HealthInterval", READ_LAST, NULL, NO_HEALTH },
        { "HealthLogDestination", READ_LAST, NULL, NO_HEALTH },
        { "HealthMaxLogCount", READ_LAST, NULL, NO_HEALTH },
        { "HealthMaxLogSize", READ_LAST, NULL, NO_HEALTH },
        { "HealthOnFailure", READ_LAST, NULL, NO_HEALTH },
        { "HealthRetries", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartPeriod", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupCmd", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupInterval", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupRetries", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupSuccess", READ_LAST, NULL, NO_HEALTH },
        { "HealthStartupTimeout", READ_LAST, NULL, NO_HEALTH },
        { "HealthTimeout", READ_LAST, NULL, NO_HEALTH },
        { "HostName", READ_LAST, set_option, "hostname" },
        { "HttpProxy", READ_BOOLEAN, set_option, "http-proxy" },
        { "IP", READ_LAST, NULL, NO_BRIDGE "remove the key: the host's addresses are the container's" },
        { "IP6", READ_LAST, NULL, NO_BRIDGE "remove the key: the host's addresses are the container's" },
        { "Image", READ_LAST, handle_image, NULL },
        { "Label", READ_PAIRS, set_option, "label" },
        { "LogDriver", READ_LAST, set_option, "log-driver" },
        { "LogOpt", READ_WORDS, set_option, "log-opt" },
        { "Mask", READ_ARGS, handle_mask, "mask" },
        { "Memory", READ_LAST, handle_memory, NULL },
        { "Mount", READ_ARGS, handle_mount, NULL },
        { "Network", READ_LINES, handle_network, NULL },
        { "NetworkAlias", READ_LINES, NULL, NO_BRIDGE "remove the key" },
        { "NoNewPrivileges", READ_BOOLEAN, handle_no_new_privileges, NULL },
        { "Notify", READ_LAST, handle_notify, NULL },
        { "PidsLimit", READ_LAST, handle_pids_limit, NULL },
        { "Pod", READ_LAST, NULL, "keyturn makes no pods; let each container be a service, Network=host joins them" },
        { "PodmanArgs", READ_ARGS, handle_podman_args, NULL },
        { "PublishPort", READ_LINES, handle_publish_port, NULL },
        { "Pull", READ_LAST, NULL, NO_PULL "remove the key and pull with Podman or when the system is built" },
        { "ReadOnly", READ_BOOLEAN, set_option, "read-only" },
        { "ReadOnlyTmpfs", READ_BOOLEAN, set_option, "read-only-tmpfs" },
        { "ReloadCmd", READ_LAST_ARGS, handle_reload_cmd, NULL },
        { "ReloadSignal", READ_LAST, handle_reload_signal, NULL },
        { "RemapGid", READ_WORDS, NULL, OLD_USERNS },
        { "RemapUid", READ_WORDS, NULL, OLD_USERNS },
        { "RemapUidSize", READ_LAST, NULL, OLD_USERNS },
        { "RemapUsers", READ_LAST, NULL, OLD_USERNS },
        { "Retry", READ_LAST, NULL, NO_PULL "remove the key" },
        { "RetryDelay", READ_LAST, NULL, NO_PULL "remove the key" },
        { "Rootfs", READ_LAST, handle_rootfs, NULL },
        { "RunInit", READ_BOOLEAN, NULL, NOT_YET "use an image or an Exec= with an init of its own" },
        { "SeccompProfile", READ_LAST, handle_seccomp_profile, NULL },
        { "Secret", READ_ARGS, NULL, NOT_YET "bind-mount a file: Volume=/path/secret:/run/secrets/NAME:ro" },
        { "SecurityLabelDisable", READ_BOOLEAN, NULL, NO_SELINUX },
        { "SecurityLabelFileType", READ_LAST, NULL, NO_SELINUX },
        { "SecurityLabelLevel", READ_LAST, NULL, NO_SELINUX },
        { "SecurityLabelNested", READ_BOOLEAN, NULL, NO_SELINUX },
        { "SecurityLabelType", READ_LAST, NULL, NO_SELINUX },
        { "ServiceName", READ_LAST, handle_nothing, NULL }, /* unit-names.c has read it before */
        { "ShmSize", READ_LAST, set_option, "shm-size" },
        { "StartWithPod", READ_BOOLEAN, NULL, "keyturn makes no pods; remove the key" },
        { "StopSignal", READ_LAST, set_option, "stop-signal" },
        { "StopTimeout", READ_LAST, handle_stop_timeout, NULL },
        { "SubGIDMap", READ_LAST, NULL, NO_USERNS },
        { "SubUIDMap", READ_LAST, NULL, NO_USERNS },
        { "Sysctl", READ_WORDS, set_option, "sysctl" },
        { "Timezone", READ_LAST, set_option, "tz" },
        { "Tmpfs", READ_LINES, set_option, "tmpfs" },
        { "UIDMap", READ_WORDS, NULL, NO_USERNS },
        { "Ulimit", READ_LINES, set_option, "ulimit" },
        { "Unmask", READ_ARGS, handle_mask, "unmask" },
        { "User", READ_LAST, handle_user, NULL },
        { "UserNS", READ_LAST, NULL, NO_USERNS },
        { "VolatileTmp", READ_BOOLEAN, NULL, "out of use in Podman, too; write Tmpfs=/tmp:rw,size=512M,mode=1777" },
        { "Volume", READ_LINES, handle_volume, NULL },
        { "WorkingDir", READ_LAST, set_option, "workdir" },
};

const size_t n_keys_container = G_N_ELEMENTS(keys_container);

/* What Podman adds by this are dependencies on network-online.target, which keyturn never adds by itself. */
const Key keys_quadlet[] = {
        { "DefaultDependencies", READ_BOOLEAN, handle_nothing, NULL },
};

const size_t n_keys_quadlet = G_N_ELEMENTS(keys_quadlet);

/* keyturn's own. Podman copies the section and does not read it. */
const Key keys_keyturn[] = {
        { "Early", READ_LAST, handle_early, NULL },
        { "WritableLayerInodes", READ_LAST, handle_layer_limit, "inodes" },
        { "WritableLayerSize", READ_LAST, handle_layer_limit, "size" },
};

const size_t n_keys_keyturn = G_N_ELEMENTS(keys_keyturn);
