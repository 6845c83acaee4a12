# SPDX-License-Identifier: LGPL-2.1-or-later
"""512 MiB, one core, a slow disk, a read-only root, no /var: cameras come up; what they read from disk, and what stays in memory."""

import os

import lanes
from vm import host

# As a cheap eMMC of such a board: 40 MB and 2,000 requests a second.
SLOW = 'throttling.bps-read=40000000,throttling.iops-read=2000'

COUNT = 10

# Started twice each, cold, in turns: after the first time systemd has the unit's words in memory, and the second time counts.
SCRIPT = r'''
findmnt --noheadings --output OPTIONS / | grep -o '^ro'
findmnt --noheadings --output FSTYPE /var
disk=$(findmnt --noheadings --output SOURCE /)
disk=/sys/class/block/${disk#/dev/}/stat
systemctl is-active $(seq -f 'camera%g.service' 0 9) | sort | uniq -c

cold() {
        local reads sectors
        systemctl stop "$1" 2>/dev/null || true
        sync
        echo 3 >/proc/sys/vm/drop_caches
        read -r reads _ sectors _ <"$disk"
        systemctl start "$1"
        sleep 2
        read -r reads2 _ sectors2 _ <"$disk"
        echo "cold $1 $(( (sectors2 - sectors) / 2 )) $((reads2 - reads))"
}
for i in 1 2 3; do
        cold empty.service
        cold native.service
        cold camera0.service
done
relay() { awk '$1 == "Pss:" { print $2 }' "/proc/$(systemctl show --property=MainPID --value keyturn-relay)/smaps_rollup"; }
echo "relay $(relay)"
systemctl stop $(seq -f 'camera%g.service' 1 9)
echo "relay $(relay)"
ps -e -o pid=,args= | awk '/[k]eyturn|[l]ibstart/ { print "process", $2 }'
for unit in native camera0; do
        echo "memory $unit $(( $(cat /sys/fs/cgroup/system.slice/$unit.service/memory.current) / 1024 ))"
done
awk '$1 == "MemAvailable:" { print "available", $2 }' /proc/meminfo
'''

NATIVE = lanes.SERVICE.replace('[Install]\nWantedBy=multi-user.target\n', '')
EMPTY = '[Service]\nType=oneshot\nExecStart=/bin/true\n'


def run(vm):
    disk = os.path.join(vm.work, 'root.qcow2')
    host('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', os.path.join(vm.disk, 'disk.ext4'), disk)
    files = {**lanes.keyturn(COUNT), 'etc/fstab': 'LABEL=keyturn-vm / ext4 ro 0 0\n',
             'etc/systemd/system/native.service': NATIVE, 'etc/systemd/system/empty.service': EMPTY}
    report = vm.boot(files, SCRIPT, cmdline='ro systemd.volatile=state', root_disk=disk, memory=512, throttle=SLOW, seconds=400)
    assert report.status == 0, report.trouble()
    lines = report.out.splitlines()
    assert lines[:3] == ['ro', 'tmpfs', f'     {COUNT} active'], report.trouble()
    said = {}
    for line in lines[3:]:
        *name, value = line.split(' ') if not line.startswith('cold') else (' '.join(line.split()[:2]), line.split()[2:])
        said.setdefault(' '.join(name), []).append(value)
    # The middle of three.
    cold = {name.split()[1]: sorted((int(kib), int(reads)) for kib, reads in values)[1]
            for name, values in said.items() if name.startswith('cold')}
    for unit, (kib, reads) in cold.items():
        vm.measured(f'read from disk by a cold start of {unit}', kib, f'KiB in {reads} requests')
    for name, values in said.items():
        if name.startswith(('memory', 'relay', 'available')):
            vm.measured(name, ' '.join(values), 'KiB')
    # The native service executes the same program as the image has.
    ours = cold['camera0.service'][0] - cold['native.service'][0]
    vm.measured('what keyturn reads more than the native service', ours, 'KiB')
    assert ours <= 2048, f'a cold start reads {ours} KiB beside the image'
    # One program stays, and does not grow with the number of containers.
    assert said['process'] == ['/usr/lib/keyturn/keyturn-relay'], said['process']
    ten, one = (int(kib) for kib in said['relay'])
    assert ten - one < 10 * COUNT and ten < 4096, f'the relay: {one} KiB, with {COUNT} containers {ten}'
