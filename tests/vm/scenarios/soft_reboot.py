# SPDX-License-Identifier: LGPL-2.1-or-later
"""systemctl soft-reboot: user space starts anew on the same kernel, and so do a camera and an early one; nothing is left over."""

import lanes

# /run survives, so the first life can tell the second.
SCRIPT = r'''
systemctl is-system-running --wait >/dev/null || true
if [ ! -e /run/vm/first-life ]; then
        systemctl is-active camera.service eye.service >/run/vm/first-life
        grep -c keyturn /proc/1/mountinfo >>/run/vm/first-life || true
        systemctl show --property=MainPID --value camera.service >>/run/vm/first-life
        systemctl soft-reboot
        sleep 60
        exit 1
fi
cat /run/vm/first-life
echo "lives $(systemctl show --property=SoftRebootsCount --value)"
systemctl is-active camera.service eye.service
grep -c keyturn /proc/1/mountinfo || true
old=$(sed -n 4p /run/vm/first-life)
if [ -e "/proc/$old" ] && grep -q camera "/proc/$old/comm"; then echo survived; else echo gone; fi
find /run/keyturn -maxdepth 1 '(' -name 'camera*' -o -name 'eye*' ')' | wc -l
'''


def run(vm):
    eye = {'etc/containers/systemd/eye.container': lanes.CONTAINER.format(more=lanes.EARLY)}
    report = vm.boot({**lanes.keyturn(), **eye}, SCRIPT)
    assert report.status == 0, report.trouble()
    lines = report.out.split('\n')
    assert lines[:2] == ['active', 'active'] and lines[4:7] == ['lives 1', 'active', 'active'], report.trouble()
    assert lines[7] == lines[2], f'mounts left over: {lines[2]} before, {lines[7]} after\n{report.trouble()}'
    assert lines[8] == 'gone', report.trouble()
    assert lines[9] == '2', report.trouble()
    assert len(lanes.frames(report, 'camera')) == 2 and len(lanes.frames(report, 'eye')) == 2, report.trouble()
