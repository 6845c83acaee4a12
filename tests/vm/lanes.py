# SPDX-License-Identifier: LGPL-2.1-or-later
"""The same camera, started in the ways that are compared."""

import re

from vm import Link

GENERATORS = 'etc/systemd/system-generators/'

# A machine without keyturn, though it is installed.
NO_KEYTURN = {
    GENERATORS + 'keyturn-generator': Link('/dev/null'),
    'etc/systemd/system/keyturn-relay.socket': Link('/dev/null'),
    'etc/systemd/system/keyturn-seccomp.service': Link('/dev/null'),
}
# On the disk Podman's generator is masked; without this link it is at work.
WITH_PODMAN = {GENERATORS + 'podman-system-generator': None}

# Debian's kernel has overlayfs as a module, packed with xz, and loading it takes a seventh of a second here. All lanes
# load it, the native one too: what is compared is starting the camera.
OVERLAY = {'etc/modules-load.d/overlay.conf': 'overlay\n'}

# What a bridge needs of Debian's kernel takes a second and more to unpack and load. Not counted, by the same means.
NETWORK_MODULES = {'etc/modules-load.d/network.conf': '\n'.join((
    'bridge', 'veth', 'nf_tables', 'nft_chain_nat', 'nft_masq', 'nft_ct', 'nft_fib_inet')) + '\n'}

SERVICE = '''
[Unit]
Description=Camera

[Service]
ExecStart=/opt/camera/camera

[Install]
WantedBy=multi-user.target
'''

CONTAINER = '''
[Unit]
Description=Camera

[Container]
Image=localhost/keyturn-demo/camera
Network=host
{more}
[Install]
WantedBy=multi-user.target
'''

# By hand what Early=yes does for a container.
EARLY_SERVICE = '''
[Unit]
Description=Camera
DefaultDependencies=no
Before=basic.target
Conflicts=shutdown.target
Before=shutdown.target

[Service]
ExecStart=/opt/camera/camera

[Install]
WantedBy=basic.target
'''

EARLY = '''
[Keyturn]
Early=yes
'''

NO_NETWORK_ONLINE = '''
[Quadlet]
DefaultDependencies=false
'''


def names(count):
    return ['camera'] if count == 1 else [f'camera{number}' for number in range(count)]


def native(count=1):
    files = {**OVERLAY, **NO_KEYTURN}
    for name in names(count):
        files[f'etc/systemd/system/{name}.service'] = SERVICE
        files[f'etc/systemd/system/multi-user.target.wants/{name}.service'] = Link(f'../{name}.service')
    return files


def containers(count, more='', network='host'):
    text = CONTAINER.format(more=more).replace('Network=host', f'Network={network}')
    return {**OVERLAY, **{f'etc/containers/systemd/{name}.container': text for name in names(count)}}


def keyturn(count=1):
    return containers(count)


def keyturn_bridge(count):
    return containers(count, network='bridge')


def native_early():
    files = native()
    files['etc/systemd/system/camera.service'] = EARLY_SERVICE
    del files['etc/systemd/system/multi-user.target.wants/camera.service']
    files['etc/systemd/system/basic.target.wants/camera.service'] = Link('../camera.service')
    return files


def keyturn_compiling():
    """The disk has the filters; here it has not, so they are compiled at boot."""
    return {**keyturn(), 'usr/lib/keyturn/seccomp': None}


def keyturn_early():
    """One line more than keyturn()."""
    return containers(1, EARLY)


def podman(count=1):
    """As Quadlet does by itself: after network-online.target."""
    return {**containers(count), **NO_KEYTURN, **WITH_PODMAN}


def podman_early(count=1):
    """As fast as Quadlet can be told to be."""
    return {**containers(count, NO_NETWORK_ONLINE), **NO_KEYTURN, **WITH_PODMAN}


def podman_bridge(count):
    return {**containers(count, NO_NETWORK_ONLINE, 'bridge'), **NO_KEYTURN, **WITH_PODMAN}


def frames(report, name=r'[\w-]+'):
    """When each camera (or that one) had its first frame, in microseconds after the kernel's start, sorted."""
    found = re.findall(rf' {name}\[\d+\]: first frame at (\d+) us after boot', report.journal)
    return sorted({int(time) for time in found})


def milestones(report):
    """Of a boot with one camera.service, in microseconds after the kernel's start."""
    unit = report.unit('camera.service')
    frame, = frames(report, r'(?:systemd-)?camera')
    return {
        'userspace': report.microseconds('Userspace'),
        'generators-start': report.microseconds('GeneratorsStart'),
        'generators-finish': report.microseconds('GeneratorsFinish'),
        'unit-start': int(unit['InactiveExitTimestampMonotonic']),
        'exec-start': int(unit['ExecMainStartTimestampMonotonic']),
        'unit-active': int(unit['ActiveEnterTimestampMonotonic']),
        'first-frame': frame,
        'finish': report.microseconds('Finish'),
    }


def first_frame(points):
    """After the start of user space."""
    return points['first-frame'] - points['userspace']


# What keyturn says of the start; nothing where the camera is not keyturn's.
TIMING = 'cat /run/keyturn/camera/.timing 2>/dev/null || true'


def phases(text):
    """That, as [(phase, microseconds)] in the order of the start, without the sum."""
    return [(name, int(time)) for name, time in (line.split() for line in text.splitlines()) if name != 'total']
