# SPDX-License-Identifier: LGPL-2.1-or-later
"""What payloads see on another architecture: as on this machine's, of the same .container files (--arch, --native)."""

import contextlib
import difflib
import os
import re
import shlex
import sys

from vm import HERE, MINE, HarnessError, Vm, make_disk

sys.path.insert(0, os.path.join(HERE, '../booted/compare-with-podman'))
import test as compare  # noqa: E402

SUITE = 'trixie-payload'
FOREIGN = True

# All but that whose image mmdebstrap makes, which takes ten minutes under emulation.
CASES = [name for name in compare.CASES if name != 'debian']

# (pattern of the whole line of the difference, pattern of the cases' names or '' for all, reason)
DIFFERENCES = [
    (r'[-+]env (SYSTEMD_EXEC_PID|INVOCATION_ID|JOURNAL_STREAM|MEMORY_PRESSURE_\w+)=.*', 'environment-of-the-host',
     'these differ with each start of a service'),
    (r'[-+](hostname|sysctl kernel/hostname\[0\]|env HOSTNAME=|content /etc/host(s|name)\[\d\]) ?'
     r'(127.0.0.1\t)?[0-9a-f]{12}( systemd-[a-z-]+)?', 'no-network|sysctls', 'the name is random'),
    (r'[-+](pid \d+ ppid .*|status NS\w+ \d+)', 'host-view|pid-host-.*', "numbers of the machine's processes"),
    (r'[-+]fd [012] char flags 0[14]00002 cloexec 0 /dev/null', '', 'O_LARGEFILE is another bit on arm64'),
    (r'[-+]interface (enp0s[23]|eth0)', '',
     'the card of the network has another place on the bus; where udev has not renamed it yet, it is eth0'),
    (r'[-+]masked /proc/acpi directory 0555 0:0 (full|empty) rw', 'unmask.*|privileged.*|pid-host-.*',
     "only a PC's has files in it"),
    (r'[-+]device /dev/(dma_heap(/system)?|hpet|input/event1|ndctl0|nmem0|nvram|ttyAMA0|uhid|vmci|vport[01]p1|vsock) '
     r'(char|directory) .*', 'privileged.*', 'devices of the machines'),
    (r'[-+]device /dev/(input/mice|port|ppp|psaux|rfkill|rtc0|snd(/seq|/timer)?|uinput) (char|directory) .*', 'privileged.*',
     'Debian has no kernel for clouds with large pages, and that for boards has drivers for more'),
    (r'-size /tmp \d{9,}', 'volumes-with-names',
     "the disk's: its blocks are as large as pages, which is what dump knows a tmpfs by, only where these have 4 KiB"),
]

# Sizes that no file asks for are parts of the memory, of which the kernels keep different amounts for themselves.
OF_MEMORY = re.compile(r'mount \S+ (dev)?tmpfs .*,size=\d+k,nr_inodes=.*|size /(run|tmp|var/tmp) \d{8,}|'
                       r'size /dev/shm \d{9}|limit sigpending .*')

# So many at once: what systemctl itself takes is much, emulated. And patience: no starts are at fault where this machine
# has much else to do.
GROUP = 6
PATIENCE = '[Manager]\nDefaultTimeoutStartSec=600\nDefaultTimeoutStopSec=600\n'

# Where a machine that takes too long was, is on its console.
SCRIPT = r'''
echo "$(cut -d' ' -f1 /proc/uptime) "%(names)s >/dev/console
systemctl start %(units)s || systemctl status %(names)s >&2 || true
for name in %(names)s; do
        systemctl is-active --quiet $name || continue
        for i in $(seq 600); do grep -qs '^call userfaultfd' /run/compare/$name && break; sleep 1; done
        sed "s|^|$name: |" /run/compare/$name
done
systemctl stop %(units)s
'''


class Recorder:
    """Takes what compare-with-podman does to its machine as a script and files for another one."""

    def __init__(self):
        self.script = ''
        self.files = {}

    def run(self, command):
        self.script += f'sh -c {shlex.quote(command)} >/dev/null </dev/null\n'

    def write(self, path, text):
        self.files[path.lstrip('/')] = text


def prepared(cases):
    machine = Recorder()
    compare.prepare(machine)
    if any('rootfs' in compare.case(name) for name in cases):
        compare.prepare_rootfs(machine)
    machine.write('etc/containers/systemd/compare.volume', compare.VOLUME)
    machine.write('etc/systemd/system.conf.d/patience.conf', PATIENCE)
    for name in cases:
        machine.write(f'etc/containers/systemd/{re.sub("@.*", "@", name)}.container', compare.container_file(name))
        if 'socket' in compare.case(name):
            machine.write(f'etc/systemd/system/{name}.socket', compare.case(name)['socket'])
    return machine


def groups(cases):
    """A bridge changes what the others see of the host's network: it comes after them."""
    bridge = [name for name in cases if 'bridge' in name]
    others = [name for name in cases if name not in bridge]
    together = [others[first:first + GROUP] for first in range(0, len(others), GROUP)]
    return together + ([bridge] if bridge else [])


def dump(vm, cases):
    """By case, the lines that its payload has written."""
    machine = prepared(cases)
    script = ('cd /\nudevadm settle\n' + machine.script +
              'install -D -t /usr/local/bin /usr/share/containers/storage/overlay/*/diff/usr/bin/dump\n')
    for group in groups(cases):
        sockets = [f'{name}.socket' for name in group if 'socket' in compare.case(name)]
        script += SCRIPT % {'names': ' '.join(group), 'units': ' '.join(sockets + group)}
    report = vm.boot(machine.files, script, seconds=200 + 20 * len(cases))
    assert report.status == 0, report.trouble(200)
    found = {name: [] for name in cases}
    for line in report.out.splitlines():
        name, text = line.split(': ', 1)
        # Where nobody says how many, it is some for each page.
        found[name].append(re.sub(r'( devtmpfs .*,nr_inodes=)(\d+)', lambda n: f'{n[1]}{int(n[2]) * vm.pages // 4}', text))
    for name, lines in found.items():
        assert len(lines) > 200, f'{name} on {vm.arch}: only {len(lines)} lines: {report.trouble()}'
    return found


def alike(one, other):
    """Whether the lines differ only in sizes, by at most 10 %."""
    one, other = re.split(r'(\d{4,})', one), re.split(r'(\d{4,})', other)
    return one[::2] == other[::2] and all(
        abs(int(a) - int(b)) * 10 <= int(a) for a, b in zip(one[1::2], other[1::2]))


def differences(name, here, there):
    lines = [line for line in list(difflib.unified_diff(here, there, n=0, lineterm=''))[2:] if not line.startswith('@@')]
    gone, come = ([line for line in lines if line[0] == sign] for sign in '-+')
    for line in [line for line in gone if OF_MEMORY.fullmatch(line[1:])]:
        twin = next((other for other in come if alike(line[1:], other[1:])), None)
        if twin:
            gone.remove(line)
            come.remove(twin)
    return [f'{name}: {line}' for line in gone + come if not compare.justified(line, name, DIFFERENCES)]


def run(vm):
    if not vm.native:
        raise HarnessError('--native is missing: a build for this machine, whose payloads see what is expected')
    cases = CASES[::10] if vm.quick else CASES
    with contextlib.closing(Vm(make_disk(SUITE, vm.native), vm.native, keep=vm.keep and vm.keep + '-' + MINE)) as peer:
        here = dump(peer, cases)
    there = dump(vm, cases)
    found = [line for name in cases for line in differences(name, here[name], there[name])]
    vm.measured('cases', len(cases), '')
    vm.measured('lines compared', sum(map(len, there.values())), '')
    assert not found, f'not as on {MINE} (-), but on {vm.arch} (+):\n' + '\n'.join(found)
