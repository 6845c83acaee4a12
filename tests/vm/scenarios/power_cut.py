# SPDX-License-Identifier: LGPL-2.1-or-later
"""Power is cut ten times (--all-cuts: fifty, --ci: four) in the middle of ten containers' starts; then the machine boots as if nothing had been.

How, says cuts.py. The machine is killed each time a little later, from the first container's start to after the last one's.
Three of the cut disks are then booted.
"""

import os
import shutil

import cuts
import lanes
from vm import Link

COUNT = 10

CAMERAS_TARGET = '''
[Unit]
Description=Cameras
After=gate.service
Wants={wants}
'''
# What keyturn could have left is on the disk only: files named after it, and whatever lies in the image store. The
# directory itself is made at each boot (tmpfiles.d).
CLEAN = r'''
systemctl is-system-running --wait
systemctl is-active 'camera*.service' | grep -c '^active'
find /var /etc /opt /home /root /srv -xdev -path '*keyturn*' ! -path '/etc/systemd/*' ! -path /var/lib/keyturn -print
find /usr/share/containers/storage -newer /etc/machine-id -type f -print
'''


BEGUN, COMPLETE = r'Starting camera\d', r'Started camera\d'
# Of the first start and of the last one.
MOMENTS = ((BEGUN, 1), (COMPLETE, COUNT))


def files():
    made = {}
    for name, text in lanes.keyturn(COUNT).items():
        made[name] = text.replace('WantedBy=multi-user.target', 'WantedBy=cameras.target').replace(
            'Description=Camera', 'Description=Camera\nAfter=gate.service')
    wants = ' '.join(f'{name}.service' for name in lanes.names(COUNT))
    made['etc/vm/gate'] = cuts.GATE
    made['etc/systemd/system/gate.service'] = cuts.GATE_SERVICE
    made['etc/systemd/system/cameras.target'] = CAMERAS_TARGET.format(wants='gate.service ' + wants)
    made['etc/systemd/system/multi-user.target.wants/cameras.target'] = Link('../cameras.target')
    return made


def boot_after(vm, disk, name):
    report = vm.boot(files_after(), CLEAN, root_disk=disk)
    assert report.status == 0, f'{name}: {report.trouble()}'
    state, active, *left = report.out.splitlines()
    assert (state, active) == ('running', str(COUNT)), f'{name}: {report.trouble()}'
    assert not left, f'{name}: left over: {left}'
    return report.microseconds('Finish') - report.microseconds('Userspace')


def files_after():
    """The same machine without the gate."""
    return dict(lanes.keyturn(COUNT), **{
        path: None for path in files() if path not in lanes.keyturn(COUNT)})


def run(vm):
    frozen, disk = cuts.frozen_disk(vm), os.path.join(vm.work, 'cut.qcow2')
    # A cut may come later than a boot that is quicker than the one that was measured.
    vm.initrd(files(), 'sleep infinity')
    cuts.freeze(vm, frozen)

    shutil.copyfile(frozen, disk)
    _, (first, last) = cuts.cut(vm, disk, MOMENTS)

    booted = {vm.cuts // 2} if vm.quick else {vm.cuts // 3, 2 * vm.cuts // 3, vm.cuts - 1}
    seen = []
    times = []
    for number in range(vm.cuts):
        name = f'cut {number + 1}'
        shutil.copyfile(frozen, disk)
        console, _ = cuts.cut(vm, disk, MOMENTS[:1], seconds=(last - first) * number / (vm.cuts - 2))
        seen.append((cuts.count(BEGUN, console), cuts.count(COMPLETE, console)))
        with cuts.replayed(vm, disk, name):
            pass
        if number in booted:
            times.append(boot_after(vm, disk, f'after {name}'))
            # The next cut needs the gate again.
            vm.initrd(files(), 'sleep infinity')
    vm.measured('starts begun/complete when power was cut', ' '.join(f'{begun}/{done}' for begun, done in seen), '')
    vm.measured('user space until all is started, after cuts (this machine\'s time)',
                ' '.join(str(value) for value in times))
    middle = sum(begun > 0 and complete < COUNT for begun, complete in seen)
    # Four are too few to tell by their half whether the times of the cuts are right.
    assert middle >= (1 if vm.quick else vm.cuts // 2), f'only {middle} of {vm.cuts} cuts hit the middle of the starts: {seen}'
