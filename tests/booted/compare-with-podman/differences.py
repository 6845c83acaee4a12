# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a payload may see differently, and why; and which keys no payload sees."""

# Supported keys that are in no case of cases.py, and why. tests/gates/keys looks at it.
NOT_COMPARED = {
    'HttpProxy': "is newer than Podman 5.4",
    'LogOpt': "names lines in the journal; a payload does not see it (booted/logs)",
    'Memory': "is newer than Podman 5.4",
    'PidsLimit': "is a limit of the cgroup, and the machines have no controllers (unit/generator, cases/02-every-key)",
    'ReloadCmd': "is newer than Podman 5.4",
    'ReloadSignal': "is newer than Podman 5.4",
    'ServiceName': "names the service; a payload does not see it (cases/02-every-key, cases/11-two-files-one-service)",
    'StopSignal': "counts when the payload stops (booted/service); all cases have it",
    'StopTimeout': "counts when the payload stops (booted/service)",
    'Timezone': "a payload reads it in /etc/localtime, where podman binds a file and keyturn writes one (booted/options)",
}

# (pattern of the whole line of the difference, pattern of the cases' names or '' for all, reason)
DIFFERENCES = [
    (r'[-+]keyring .*', '',
     "with Podman the session keyring is named after the container's id; here it has no name that others could guess"),
    (r'[-+]device /dev/null char 0666 \d+:\d+ 1,3', '',
     "what stands on the standard streams keeps its owner here; with Podman the payload's user gets it"),
    (r'\+mount /dev/(second|zero) tmpfs bound ro,nosuid private .*', 'devices',
     "a device is a mount of its own, so that nobody inside can change the node's owner or mode"),
    (r'[-+]env-order\[\d+\] .*', '', 'the order of variables changes from one start to the next with Podman'),
    (r'[-+]mount / overlay (whole|bound) (rw|ro)(,nodev)?,relatime (private|shared) rw(,fsync=volatile)?', '',
     "device files of an image are forbidden by 'nodev', not by the cgroup's device rules; and no file of the "
     "container outlives it, so there is nothing to sync"),
    (r'[-+]mount /sys sysfs whole ro,nosuid,nodev,noexec,relatime private (rw|ro)', '',
     'read-only from the first moment on: where the network namespace is new, that makes the file system read-only too'),
    (r'-mount (/etc/hosts|/etc/hostname|/etc/resolv.conf|/run/.containerenv) tmpfs bound .*', '',
     'files of the container itself are written into its layer, not mounted over it'),
    (r'\+(mount /proc/interrupts|masked /proc/interrupts char 0666 0:0 1,3 empty ro).*', '',
     "the list of masked paths is Podman 6's"),
    (r'[-+]mount /proc/\w+ tmpfs bound ro (shared|private) rw,.*', 'volumes',
     "a mask is private also where a volume is shared; with Podman it stays a peer of the host's /dev"),
    (r'-masked /proc/interrupts file 0444 0:0 full rw', '', "the list of masked paths is Podman 6's"),
    (r'[-+]size /(run|run/lock|tmp|var/tmp) \d+', r'(?!read-only$).*',
     'the writable layer is a file system of its own, in memory, not on the disk'),
    (r'\+mount (/etc/hosts|/etc/hostname|/etc/resolv.conf|/run/.containerenv) tmpfs bound rw,relatime private '
     r'rw,size=\d+k,nr_inodes=\d+', 'rootfs(-user)?', 'that of Rootfs= is where these files are, with its limits'),
    (r'[-+](hostname|sysctl kernel/hostname\[0\]|env HOSTNAME=|content /etc/host(s|name)\[\d\]) ?'
     r'(127.0.0.1\t)?[0-9a-f]{12}( systemd-[a-z-]+)?', 'no-network|sysctls', 'both make a random name up'),
    (r'-path / directory 0555 4242:0', 'rootfs-user', 'Podman gives the root of Rootfs=:O to User='),
    (r'\+path / directory 0555 0:0', 'rootfs-user', 'Podman gives the root of Rootfs=:O to User='),
    (r'-path /etc/mtab link -> /proc/mounts', 'rootfs', 'nothing is written into the directory of Rootfs='),
    (r'\+path /etc/mtab ENOENT', 'rootfs', 'nothing is written into the directory of Rootfs='),
    (r'-mount /run/notify tmpfs bound .*', 'notify', 'only the socket is mounted; Podman mounts the directory that it is in'),
    (r'\+mount /run/notify/notify.sock tmpfs bound .*', 'notify',
     "only the socket is mounted; Podman mounts the directory that it is in"),
    (r'[-+]fd [12] .*', 'log-driver-none', 'LogDriver=none is /dev/null; with Podman conmon reads and forgets'),
    (r'-env (TMPDIR|PODMAN_SYSTEMD_UNIT|NOTIFY_SOCKET)=.*', 'environment-of-the-host',
     'variables that Podman itself was given or sets for itself'),
    (r'[-+]env (SYSTEMD_EXEC_PID|INVOCATION_ID|JOURNAL_STREAM|MEMORY_PRESSURE_\w+)=.*', 'environment-of-the-host',
     'these differ with each start of a service'),
    (r'[-+]mount (/run/secrets(/.*)?|/etc/hostname) (tmpfs|ramfs) bound .*', 'secret.*',
     'a file is in memory that is never swapped, and read-only; Podman mounts the directory that it is in, too, and root '
     'can write to its copy of the file'),
    (r'[-+]run /run/secrets/compare file 0(400|444) 0:0', 'secret',
     'with Podman a secret that is given twice is one file, and what the last says of its mode counts for both'),
    (r'[-+]mount /anonymous tmpfs (bound|whole) rw,nosuid,nodev,relatime private rw,mode=755', 'volumes-.*',
     'a volume without a name is a directory of the writable layer, with ReadOnly= a tmpfs; Podman makes a volume, and '
     'removes it'),
    (r'-root /new directory 1755 0:0', 'volumes-with-names', 'Podman makes the directory above a new mount point sticky'),
    (r'\+root /new directory 0755 0:0', 'volumes-with-names', 'Podman makes the directory above a new mount point sticky'),
    (r'-mount /image overlay whole rw,relatime private ro,redirect_dir=on', 'mount-types',
     'both cannot be written; no device node of an image can be opened here'),
    (r'\+mount /image tmpfs bound ro,nodev,relatime private rw,mode=755', 'mount-types',
     'both cannot be written; no device node of an image can be opened here'),
    (r'-mount /volume tmpfs bound .*', 'layers.*',
     'a VOLUME of the image is a directory of the writable layer; Podman makes an anonymous volume, and removes it'),
    (r'\+argv\[1[12]\] (after)?', 'arguments', "Podman's Quadlet loses an empty word and all that follow it"),
    (r'-content /etc/group\[5\] 1500:x:1500:1500', 'user-id',
     'Podman adds a group of the number of User=, though the user is in passwd with another group'),
    (r'\+env RUNTIME_DIRECTORY=/run/keyturn/.*', 'environment-of-the-host',
     "the container's own state is in the unit's RuntimeDirectory="),
]
