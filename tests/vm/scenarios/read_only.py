# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine whose root is read-only and whose /var forgets: the camera is there at boot, stops, starts again."""

import lanes

SCRIPT = r'''
! touch /written 2>/dev/null
! touch /etc/written 2>/dev/null
findmnt --noheadings --output OPTIONS / | grep -o '^ro'
findmnt --noheadings --output FSTYPE /var
systemctl is-active camera.service
systemctl stop camera.service
systemctl start camera.service
systemctl is-active camera.service
'''


def run(vm):
    # findmnt's first line is the root's; fstab must not ask for another remount.
    files = dict(lanes.keyturn(), **{'etc/fstab': 'LABEL=keyturn-vm / ext4 ro 0 0\n'})
    report = vm.boot(files, SCRIPT, cmdline='ro systemd.volatile=state')
    assert report.status == 0, report.trouble()
    assert report.out.split() == ['ro', 'tmpfs', 'active', 'active'], report.trouble()
    assert len(lanes.frames(report)) == 2, report.trouble()
