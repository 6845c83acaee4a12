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

# Debian's kernel has overlayfs as a module, packed with xz; where nothing else asked for it, the first container
# waits 0.45 s for it. All lanes load it early, the native one too: what is compared is starting the camera.
OVERLAY = {'etc/modules-load.d/overlay.conf': 'overlay\n'}

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


def containers(count, more=''):
    text = CONTAINER.format(more=more)
    return {**OVERLAY, **{f'etc/containers/systemd/{name}.container': text for name in names(count)}}


def keyturn(count=1):
    return containers(count)


def podman(count=1):
    """As Quadlet does by itself: after network-online.target."""
    return {**containers(count), **NO_KEYTURN, **WITH_PODMAN}


def podman_early(count=1):
    """As fast as Quadlet can be told to be."""
    return {**containers(count, NO_NETWORK_ONLINE), **NO_KEYTURN, **WITH_PODMAN}


def frames(report):
    """When each camera had its first frame, in microseconds after the kernel's start, sorted."""
    return sorted({int(found) for found in re.findall(r': first frame at (\d+) us after boot', report.journal)})
