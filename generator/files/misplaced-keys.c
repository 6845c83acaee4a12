/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "generator/files/misplaced-keys.h"

#define UNIT "it belongs into [Unit]"
#define SERVICE "it belongs into [Service]"
#define INSTALL "it belongs into [Install]"
#define WRITE(key) "write " key " instead"

/* What was seen in real files. The names of the other sections' keys are systemd's, of the rest docker's and
 * Compose's. */
static const struct {
        const char *name, *advice;
} misplaced[] = {
        { "AddGroup", WRITE("GroupAdd=") },
        { "After", UNIT },
        { "Alias", INSTALL },
        { "Before", UNIT },
        { "Bind", WRITE("Volume=") },
        { "Binds", WRITE("Volume=") },
        { "BindsTo", UNIT },
        { "CapAdd", WRITE("AddCapability=") },
        { "CapDrop", WRITE("DropCapability=") },
        { "Capabilities", WRITE("AddCapability=") },
        { "CgroupsPath", "write Slice= in [Service]" },
        { "Cmd", WRITE("Exec=") },
        { "Command", WRITE("Exec=") },
        { "ConditionPathExists", UNIT },
        { "Conflicts", UNIT },
        { "CPUAffinity", SERVICE },
        { "CPUQuota", SERVICE },
        { "CPUWeight", SERVICE },
        { "Cpus", "write CPUQuota= in [Service]" },
        { "CPUs", "write CPUQuota= in [Service]" },
        { "DefaultDependencies", "it belongs into [Quadlet] or [Unit]" },
        { "Delegate", SERVICE },
        { "DependsOn", "write Requires= and After= in [Unit]" },
        { "Description", UNIT },
        { "Device", WRITE("AddDevice=") },
        { "Devices", WRITE("AddDevice=") },
        { "Documentation", UNIT },
        { "EnvFile", WRITE("EnvironmentFile=") },
        { "Env", WRITE("Environment=") },
        { "ExecReload", SERVICE },
        { "ExecStart", "write Exec= for the container's command" },
        { "ExecStartPost", SERVICE },
        { "ExecStartPre", SERVICE },
        { "ExecStop", SERVICE },
        { "ExtraHosts", WRITE("AddHost=") },
        { "HealthCheck", WRITE("HealthCmd=") },
        { "IpcMode", "containers have an IPC namespace of their own; remove the key" },
        { "KillMode", SERVICE },
        { "KillSignal", WRITE("StopSignal=") },
        { "LimitNOFILE", SERVICE },
        { "LoadCredential", SERVICE },
        { "MemoryHigh", SERVICE },
        { "MemoryLimit", WRITE("Memory=") },
        { "MemoryMax", SERVICE },
        { "MemorySwapMax", SERVICE },
        { "NetworkMode", WRITE("Network=") },
        { "Nice", SERVICE },
        { "OnFailure", UNIT },
        { "OOMScoreAdjust", SERVICE },
        { "PartOf", UNIT },
        { "Pid", "containers have a process namespace of their own; remove the key" },
        { "PidMode", "containers have a process namespace of their own; remove the key" },
        { "Port", WRITE("PublishPort=") },
        { "Ports", WRITE("PublishPort=") },
        { "Privileged", "there is no such key in Quadlet; write what the program needs: AddCapability=, AddDevice=, "
                        "Unmask=ALL, SeccompProfile=unconfined" },
        { "Publish", WRITE("PublishPort=") },
        { "ReadOnlyRootfs", WRITE("ReadOnly=") },
        { "RequiredBy", INSTALL },
        { "Requires", UNIT },
        { "RequiresMountsFor", UNIT },
        { "Requisite", UNIT },
        { "Restart", SERVICE },
        { "RestartSec", SERVICE },
        { "RuntimeDirectory", SERVICE },
        { "SecurityOpt", "write PodmanArgs=--security-opt=..." },
        { "Slice", SERVICE },
        { "StandardError", SERVICE },
        { "StandardOutput", SERVICE },
        { "StartLimitBurst", UNIT },
        { "StartLimitIntervalSec", UNIT },
        { "StateDirectory", SERVICE },
        { "StopGracePeriod", WRITE("StopTimeout=") },
        { "StopWhenUnneeded", UNIT },
        { "SuccessExitStatus", SERVICE },
        { "SyslogIdentifier", SERVICE },
        { "TasksMax", SERVICE },
        { "TimeoutStartSec", SERVICE },
        { "TimeoutStopSec", SERVICE },
        { "Tty", "a service has no terminal; remove the key" },
        { "Type", SERVICE },
        { "WantedBy", INSTALL },
        { "Wants", UNIT },
        { "WatchdogSec", SERVICE },
        { "WorkDir", WRITE("WorkingDir=") },
};

const char *misplaced_key_advice(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(misplaced); i++)
                if (g_ascii_strcasecmp(misplaced[i].name, name) == 0)
                        return misplaced[i].advice;
        return NULL;
}
