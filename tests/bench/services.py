# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same payload as a service in each of the ways that are compared."""

import containers
from bench import IMAGE, TOOLS

QUADLET = '/usr/lib/systemd/system-generators/podman-system-generator'

# Stopping is measured, too, without the patience of a payload that must be asked: SIGKILL on request is no
# failure.
UNIT = '''
[Unit]
StartLimitIntervalSec=0

{section}

[Service]
SuccessExitStatus=SIGKILL 137
{service}
'''

NATIVE = f'''Type=exec
ExecStart={TOOLS}/busybox sleep infinity
KillSignal=SIGKILL
'''

# No more of systemd's sandbox than its own root directory with its /proc, /sys and /dev.
ROOT_DIRECTORY = f'''Type=exec
RootDirectory={containers.ROOT}
MountAPIVFS=yes
ExecStart=/bin/busybox sleep infinity
KillSignal=SIGKILL
'''

CONTAINER = f'''[Container]
Image={IMAGE}
Network=host
Exec=sleep infinity
StopSignal=SIGKILL

'''

# As fast as Quadlet can be told to be: no waiting for the network.
NO_NETWORK_ONLINE = '''[Quadlet]
DefaultDependencies=false
'''


def native(machine, names):
    machine.run(['cp', f'{containers.layers(machine)[-1]}/bin/busybox', f'{TOOLS}/busybox'])
    for name in names:
        machine.unit(name, UNIT.format(section='', service=NATIVE), reload=False)


def root_directory(machine, names):
    containers.mount_root(machine)
    for name in names:
        machine.unit(name, UNIT.format(section='', service=ROOT_DIRECTORY), reload=False)


def keyturn(machine, names, more=''):
    text = UNIT.format(section=CONTAINER + more, service='')
    for name in names:
        machine.container(name, text, reload=False)


def keyturn_passthrough(machine, names):
    """Without the relay between payload and journal: what that one costs is the difference."""
    keyturn(machine, names, 'LogDriver=passthrough\n')


def quadlet(machine, files):
    """Podman's generator is masked in the machine, so that keyturn's takes all files: it is run by hand. A name
    without a suffix is a container's."""
    for name, text in files.items():
        machine.write(f'/run/bench/quadlet/{name}{"" if "." in name else ".container"}', text)
    machine.run([QUADLET, '/run/systemd/system'], env={'QUADLET_UNIT_DIRS': '/run/bench/quadlet'})


def podman(machine, names, more=''):
    text = UNIT.format(section=CONTAINER + more + NO_NETWORK_ONLINE, service='')
    quadlet(machine, {name: text for name in names})


KINDS = {'native': native, 'root-directory': root_directory, 'keyturn': keyturn,
         'keyturn-passthrough': keyturn_passthrough, 'podman': podman}


def install(bench, group, count):
    """Units KIND-1 to KIND-COUNT of each kind; returns the kinds that there are."""
    kinds = [kind for kind in KINDS if kind != 'podman' or bench.has(f'{group}/podman', QUADLET)]
    for kind in kinds:
        KINDS[kind](bench.machine, [f'{kind}-{number}' for number in range(1, count + 1)])
    bench.machine.reload()
    return kinds
