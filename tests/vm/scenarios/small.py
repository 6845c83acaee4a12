# SPDX-License-Identifier: LGPL-2.1-or-later
"""512 MiB, one core, a slow disk, a read-only root, no /var: cameras come up; what they read from disk, and what stays in memory."""

import os

import lanes
from vm import host

# As a cheap eMMC of such a board: 40 MB and 2,000 requests a second.
SLOW = 'throttling.bps-read=40000000,throttling.iops-read=2000'

COUNT = 10

# What the boot has read, and what it has made.
BOOTED = r'''
disk=$(findmnt --noheadings --output SOURCE /)
disk=/sys/class/block/${disk#/dev/}/stat
read_so_far() {
        local reads merged sectors rest
        read -r reads merged sectors rest <"$disk"
        echo "$((sectors / 2)) $reads"
}
echo "boot $(read_so_far)"
findmnt --noheadings --output OPTIONS / | grep -o '^ro'
findmnt --noheadings --output FSTYPE /var
systemctl is-active 'camera*.service' | sort | uniq -c
'''

# The relay and its worker, with COUNT containers and with one.
RESIDENT = r'''
resident() {
        for process in $(cat /sys/fs/cgroup/system.slice/keyturn-relay.service/cgroup.procs); do
                awk '$1 == "Pss:" { print $2 }' "/proc/$process/smaps_rollup"
        done | awk '{ kib += $1 } END { print "relay", kib, NR }'
}
others() {
        ps -e -o args= | awk '/^[^ ]*(keyturn|libstart)/ && !/keyturn-relay$/ { print "other", $0 }'
}
resident
others
systemctl stop $(seq -f 'camera%g.service' 1 9)
sleep 3
resident
others
echo "camera $(cat /sys/fs/cgroup/system.slice/camera0.service/memory.current)"
'''


def boot(vm, files, script):
    disk = os.path.join(vm.work, 'root.qcow2')
    host('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', os.path.join(vm.disk, 'disk.ext4'), disk)
    report = vm.boot({**files, 'etc/fstab': 'LABEL=keyturn-vm / ext4 ro 0 0\n'}, script, cmdline='ro systemd.volatile=state',
                     root_disk=disk, memory=512, throttle=SLOW, seconds=400)
    assert report.status == 0, report.trouble()
    first, *lines = report.out.splitlines()
    kib, requests = (int(word) for word in first.split()[1:])
    return report, kib, requests, lines


def run(vm):
    report, native_kib, native_requests, lines = boot(vm, lanes.native(), BOOTED)
    assert lines == ['ro', 'tmpfs', '      1 active'], report.trouble()
    report, kib, requests, lines = boot(vm, lanes.keyturn(COUNT), BOOTED + RESIDENT)
    assert lines[:3] == ['ro', 'tmpfs', f'     {COUNT} active'], report.trouble()
    vm.measured('read by a boot with a native camera', native_kib, f'KiB in {native_requests} requests')
    vm.measured(f'read by a boot with {COUNT} cameras of keyturn', kib, f'KiB in {requests} requests')
    # What it reads of its own programs is held by tests/booted/ceilings; here are also the images' directories, what the
    # kernel reads of the file system for all that, and COUNT of everything.
    vm.measured('keyturn reads more', kib - native_kib, f'KiB in {requests - native_requests} requests')
    assert kib - native_kib <= 5120, f'keyturn reads {kib - native_kib} KiB more'

    many, one = (tuple(int(word) for word in line.split()[1:]) for line in lines if line.startswith('relay'))
    for count, (pss, processes) in ((COUNT, many), (1, one)):
        vm.measured(f'resident with {count} cameras', pss, f'KiB in {processes} processes')
    # The relay and its worker are all that stays, however many containers there are.
    assert not any(line.startswith('other') for line in lines), lines
    assert many[1] == one[1] <= 2 and many[0] - one[0] <= 10 * COUNT and many[0] < 4096, (many, one)
    camera, = (int(line.split()[1]) for line in lines if line.startswith('camera'))
    vm.measured('memory of a camera\'s cgroup', camera // 1024, 'KiB')
