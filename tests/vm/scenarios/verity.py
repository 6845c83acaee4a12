# SPDX-License-Identifier: LGPL-2.1-or-later
"""Images on squashfs or EROFS with dm-verity under it: a camera comes up from there, and not where a byte of it was changed."""

import os
import re
import subprocess

import lanes
from vm import host

LIBRARIES = '/usr/lib/x86_64-linux-gnu'
STORE = '/usr/share/containers/storage'

# What systemd-veritysetup does, which is not on the disk: dmsetup comes with the scenario, as does its one library.
OPEN = '''
[Unit]
DefaultDependencies=no
Wants=modprobe@dm_mod.service modprobe@dm_verity.service
After=modprobe@dm_mod.service modprobe@dm_verity.service dev-vda.device dev-vdb.device
BindsTo=dev-vda.device dev-vdb.device
Before=local-fs.target

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=LD_LIBRARY_PATH=/opt/verity DM_DISABLE_UDEV=1
ExecStart=/bin/chmod 0755 /opt/verity/dmsetup
ExecStart=/opt/verity/dmsetup create images --readonly --table "0 {sectors} verity 1 /dev/vda /dev/vdb 4096 4096 {blocks} 1 \\
        sha256 {root} {salt}"
ExecStart=/bin/mount -t {kind} -o ro /dev/mapper/images {store}
'''
SCRIPT = f'''
findmnt --noheadings --output SOURCE,FSTYPE {STORE}
systemctl is-active camera.service || true
systemctl restart camera.service || true
systemctl is-active camera.service || true
'''


def make(vm, kind):
    """The disk's images as that file system, and the tree of digests beside it; and what veritysetup says about these."""
    directory = os.path.join(vm.work, kind)
    store, image, tree = (os.path.join(directory, name) for name in ('storage', 'images', 'digests'))
    os.makedirs(directory)
    host('debugfs', '-R', f'rdump {STORE} {directory}', os.path.join(vm.disk, 'disk.ext4'), stderr=subprocess.DEVNULL)
    if kind == 'erofs':
        host('mkfs.erofs', '-T0', '--quiet', image, store)
    else:
        host('mksquashfs', store, image, '-quiet', '-no-progress', '-all-time', '0')
    said = host('veritysetup', 'format', image, tree)
    return image, tree, {key: re.search(rf'{name}:\s*(\S+)', said)[1]
                         for key, name in (('root', 'Root hash'), ('salt', 'Salt'), ('blocks', 'Data blocks'))}


def boot(vm, kind, image, tree, values):
    unit = OPEN.format(kind=kind, store=STORE, sectors=int(values['blocks']) * 8, **values)
    files = {
        'etc/systemd/system/images-verity.service': unit,
        'etc/systemd/system/local-fs.target.wants/images-verity.service': lanes.Link('../images-verity.service'),
    }
    for path in ('/usr/sbin/dmsetup', f'{LIBRARIES}/libdevmapper.so.1.02.1'):
        with open(path, 'rb') as file:
            files['opt/verity/' + os.path.basename(path)] = file.read()
    return vm.boot({**lanes.keyturn(), **files}, SCRIPT, disks=[image, tree], units=['camera.service'])


def spoil(image):
    """Changes one byte of the camera, somewhere in its text."""
    with open(image, 'r+b') as file:
        data = file.read()
        place = data.index(b'first frame at')
        file.seek(place)
        file.write(b'F')


def run(vm):
    for kind in ('squashfs', 'erofs'):
        image, tree, values = make(vm, kind)
        report = boot(vm, kind, image, tree, values)
        assert report.status == 0, report.trouble()
        assert report.out.split() == ['/dev/mapper/images', kind, 'active', 'active'], report.trouble()
        assert len(lanes.frames(report)) == 2, report.trouble()

    spoil(image)
    report = boot(vm, kind, image, tree, values)
    assert report.status == 0, report.trouble()
    assert report.out.split()[:2] == ['/dev/mapper/images', kind], report.trouble()
    assert 'verity' in report.journal and 'is corrupted' in report.journal, report.trouble()
    assert not lanes.frames(report) and 'First frame' not in report.journal, report.trouble()
