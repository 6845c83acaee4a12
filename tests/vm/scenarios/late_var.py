# SPDX-License-Identifier: LGPL-2.1-or-later
"""/var is a file system of its own, not mounted while generators run, and the image is nowhere but there."""

import os
import tempfile

import lanes
from vm import host

# As Podman itself has it: no additional store, all images below /var.
STORAGE = '''
[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
'''

FSTAB = '''
LABEL=keyturn-vm / ext4 defaults 0 0
LABEL=var /var ext4 defaults 0 0
'''

SCRIPT = r'''
findmnt --noheadings --output SOURCE /var
systemctl is-active camera.service
'''


def make_var(vm, path):
    with tempfile.TemporaryDirectory(dir=vm.work) as directory:
        storage = os.path.join(directory, 'lib/containers')
        os.makedirs(storage)
        # The image as it is on the disk, with the camera that tells microseconds.
        host('debugfs', '-R', f'rdump /usr/share/containers/storage {storage}', os.path.join(vm.disk, 'disk.ext4'),
             stderr=open(os.devnull, 'w'))
        host('mke2fs', '-q', '-t', 'ext4', '-L', 'var', '-d', directory, path, '256m')


def run(vm):
    var = os.path.join(vm.work, 'var.ext4')
    make_var(vm, var)
    files = dict(lanes.keyturn(), **{
        'etc/fstab': FSTAB,
        'etc/containers/storage.conf': STORAGE,
        # Nothing is there before the mount.
        'var/lib/containers': None,
    })
    report = vm.boot(files, SCRIPT, disks=[var], units=['camera.service', 'var.mount'])
    assert report.status == 0, report.trouble()
    assert report.out.split() == ['/dev/vda', 'active'], report.trouble()
    mounted = int(report.unit('var.mount')['ActiveEnterTimestampMonotonic'])
    assert report.microseconds('GeneratorsFinish') < mounted, 'the generators ran with /var mounted: nothing was tested'
    assert len(lanes.frames(report)) == 1, report.trouble()
    assert report.manager['NFailedUnits'] == '0', report.trouble()
