/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "generator/files/misplaced-keys.h"

#define WRITE(key) "write " key " instead"

/* What was seen in real files. The names of the other sections' keys are systemd's, of the rest docker's and
 * Compose's. */
static const struct {
        const char *names, *advice; /* names: with blanks between */
} misplaced[] = {
        { "After Before BindsTo ConditionPathExists Conflicts Description Documentation OnFailure PartOf Requires "
          "RequiresMountsFor Requisite StartLimitBurst StartLimitIntervalSec StopWhenUnneeded Wants",
          "it belongs into [Unit]" },
        { "CPUAffinity CPUQuota CPUWeight Delegate ExecReload ExecStartPost ExecStartPre ExecStop KillMode "
          "LimitNOFILE LoadCredential MemoryHigh MemoryMax MemorySwapMax Nice OOMScoreAdjust Restart RestartSec "
          "RuntimeDirectory Slice StandardError StandardOutput StateDirectory SuccessExitStatus SyslogIdentifier "
          "TasksMax TimeoutStartSec TimeoutStopSec Type WatchdogSec",
          "it belongs into [Service]" },
        { "Alias RequiredBy WantedBy", "it belongs into [Install]" },
        { "AddGroup", WRITE("GroupAdd=") },
        { "Bind Binds", WRITE("Volume=") },
        { "CapAdd Capabilities", WRITE("AddCapability=") },
        { "CapDrop", WRITE("DropCapability=") },
        { "CgroupsPath", "write Slice= in [Service]" },
        { "Args Cmd Command", WRITE("Exec=") },
        { "Cpus", "write CPUQuota= in [Service]" },
        { "CPUShares", "write CPUWeight= in [Service]" },
        { "DefaultDependencies", "it belongs into [Quadlet] or [Unit]" },
        { "DependsOn", "write Requires= and After= in [Unit]" },
        { "Device Devices", WRITE("AddDevice=") },
        { "EnvFile", WRITE("EnvironmentFile=") },
        { "Env", WRITE("Environment=") },
        { "ExecStart", "write Exec= for the container's command" },
        { "ExtraHosts", WRITE("AddHost=") },
        { "HealthCheck", WRITE("HealthCmd=") },
        { "Ipc IpcMode", "containers have an IPC namespace of their own; remove the key" },
        { "KillSignal", WRITE("StopSignal=") },
        { "MacAddress", "write Network=NAME:mac=..." },
        { "MemoryLimit", WRITE("Memory=") },
        { "MemorySwap MemswapLimit",
          "Memory= allows as much swap again; for another limit write MemorySwapMax= in [Service]" },
        { "NetworkMode", WRITE("Network=") },
        { "OomScoreAdj", "write OOMScoreAdjust= in [Service]" },
        { "Pid PidMode", "containers have a process namespace of their own; remove the key" },
        { "Port Ports Publish", WRITE("PublishPort=") },
        { "Privileged",
          "there is no such key in Quadlet; write what the program needs: AddCapability=, AddDevice=, Unmask=ALL, "
          "SeccompProfile=unconfined" },
        { "ReadOnlyRootfs", WRITE("ReadOnly=") },
        { "SecurityLabel", "write SecurityLabelDisable=true, or SecurityLabelType=" },
        { "SecurityOpt", "write PodmanArgs=--security-opt=..." },
        { "StopGracePeriod", WRITE("StopTimeout=") },
        { "Tty", "a service has no terminal; remove the key" },
        { "WorkDir WorkingDirectory", WRITE("WorkingDir=") },
};

const char *misplaced_key_advice(const char *name) {
        for (size_t i = 0; i < G_N_ELEMENTS(misplaced); i++) {
                g_auto(GStrv) names = g_strsplit(misplaced[i].names, " ", -1);

                for (char **known = names; *known; known++)
                        if (g_ascii_strcasecmp(*known, name) == 0)
                                return misplaced[i].advice;
        }
        return NULL;
}
