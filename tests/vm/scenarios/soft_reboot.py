# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemctl soft-reboot: user space starts anew on the same kernel, and so does the camera; nothing is left over."""

import lanes

# /run survives, so the first life can tell the second.
SCRIPT = r'''
systemctl is-system-running --wait >/dev/null || true
if [ ! -e /run/vm/first-life ]; then
        systemctl is-active camera.service >/run/vm/first-life
        grep -c keyturn /proc/1/mountinfo >>/run/vm/first-life || true
        systemctl show --property=MainPID --value camera.service >>/run/vm/first-life
        systemctl soft-reboot
        sleep 60
        exit 1
fi
cat /run/vm/first-life
echo "lives $(systemctl show --property=SoftRebootsCount --value)"
systemctl is-active camera.service
grep -c keyturn /proc/1/mountinfo || true
old=$(sed -n 3p /run/vm/first-life)
if [ -e "/proc/$old" ] && grep -q camera "/proc/$old/comm"; then echo survived; else echo gone; fi
find /run/keyturn -maxdepth 1 -name 'camera*' | wc -l
'''


def run(vm):
    report = vm.boot(lanes.keyturn(), SCRIPT)
    assert report.status == 0, report.trouble()
    lines = report.out.split('\n')
    assert lines[0] == 'active' and lines[3:5] == ['lives 1', 'active'], report.trouble()
    assert lines[5] == lines[1], f'mounts left over: {lines[1]} before, {lines[5]} after\n{report.trouble()}'
    assert lines[6] == 'gone', report.trouble()
    assert lines[7] == '1', report.trouble()
    assert len(lanes.frames(report)) == 2, report.trouble()
