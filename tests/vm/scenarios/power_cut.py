# SPDX-License-Identifier: LGPL-2.1-or-later
"""Power is cut ten times (--all-cuts: fifty, --ci: four) in the middle of ten containers' starts; then the machine boots as if nothing had been.

A boot takes 20 s here, fifty would take the whole day's patience. So the machine boots once, up to the moment
before the containers start, and is frozen there with its memory and its disk. From that moment it is thawed
again and again and killed, each time a little later, from the first container's start to after the last one's. After each cut the file
system's journal is replayed and the disk looked at from outside. Three of the cut disks are then booted.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time

import lanes
from vm import PORT, Link, host

COUNT = 10

# The cameras wait for this, so that the moment before their start is known outside.
GATE = PORT + r'''
echo ready >"$report"
# Frozen somewhere in these seconds, thawed in the same place.
sleep 2
'''
GATE_SERVICE = '''
[Unit]
Description=The moment before
After=basic.target systemd-logind.service systemd-networkd.service

[Service]
Type=oneshot
ExecStart=/bin/bash /etc/vm/gate
'''
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


# What the cameras say, for us to count while the machine lives.
CONSOLE = 'systemd.journald.forward_to_console=1'


class Monitor:
    """QEMU's control socket."""

    def __init__(self, path):
        deadline = time.monotonic() + 10
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(path)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        self.lines = self.socket.makefile('r')
        self.lines.readline()
        self.command('qmp_capabilities')

    def command(self, name, **arguments):
        self.socket.sendall(json.dumps({'execute': name, 'arguments': arguments}).encode() + b'\n')
        while True:
            answer = json.loads(self.lines.readline())
            if 'error' in answer:
                raise AssertionError(f'QEMU: {answer["error"]["desc"]}')
            if 'return' in answer:
                return answer['return']

    def human(self, line):
        said = self.command('human-monitor-command', **{'command-line': line})
        if said.strip():
            raise AssertionError(f'QEMU: {line}: {said.strip()}')


def files():
    made = {}
    for name, text in lanes.keyturn(COUNT).items():
        made[name] = text.replace('WantedBy=multi-user.target', 'WantedBy=cameras.target').replace(
            'Description=Camera', 'Description=Camera\nAfter=gate.service')
    wants = ' '.join(f'{name}.service' for name in lanes.names(COUNT))
    made['etc/vm/gate'] = GATE
    made['etc/systemd/system/gate.service'] = GATE_SERVICE
    made['etc/systemd/system/cameras.target'] = CAMERAS_TARGET.format(wants='gate.service ' + wants)
    made['etc/systemd/system/multi-user.target.wants/cameras.target'] = Link('../cameras.target')
    return made


def freeze(vm, disk):
    """Boots up to the gate and saves that moment in the disk's image. Returns nothing that lives."""
    qmp = os.path.join(vm.work, 'qmp')
    command = vm.command(root_disk=disk, cmdline=CONSOLE, more=['-qmp', f'unix:{qmp},server=on,wait=off'])
    with vm.running(command) as process:
        monitor = Monitor(qmp)
        deadline = time.monotonic() + 120 * vm.patience
        while 'ready' not in read(vm, 'report'):
            assert process.poll() is None and time.monotonic() < deadline, 'no gate:\n' + vm.console()[-4000:]
            time.sleep(0.02)
        monitor.command('stop')
        monitor.human('savevm gate')


def read(vm, name):
    if not os.path.exists(os.path.join(vm.work, name)):
        return ''
    with open(os.path.join(vm.work, name), errors='replace') as file:
        return file.read()


def progress(vm):
    """How many starts of cameras have begun, and how many are complete, as systemd tells the console."""
    console = vm.console()
    return len(re.findall(r'Starting camera\d', console)), len(re.findall(r'Started camera\d', console))


def cut(vm, disk, seconds=None):
    """Thaws the machine and kills it that much later, or after the last camera's start.

    Returns what progress() said then, and after how many seconds the first and the last start were seen.
    """
    qmp = os.path.join(vm.work, 'qmp')
    command = vm.command(root_disk=disk, cmdline=CONSOLE,
                         more=['-qmp', f'unix:{qmp},server=on,wait=off', '-loadvm', 'gate', '-S'])
    with vm.running(command) as process:
        monitor = Monitor(qmp)
        monitor.command('cont')
        began = time.monotonic()
        first = None
        while time.monotonic() - began < (seconds or 120 * vm.patience):
            time.sleep(0.02)
            begun, complete = progress(vm)
            if begun and first is None:
                first = time.monotonic() - began
            if not seconds and complete == COUNT:
                break
        took = time.monotonic() - began
        assert process.poll() is None, 'the machine ended by itself: ' + vm.console()[-2000:]
        process.kill()
    assert seconds or progress(vm)[1] == COUNT, 'the cameras do not start: ' + vm.console()[-4000:]
    return progress(vm), first, took


def damage(vm, disk):
    """What is wrong with the file system after its journal was replayed, as by the next mount; '' if nothing."""
    raw = os.path.join(vm.work, 'cut.ext4')
    host('qemu-img', 'convert', '-O', 'raw', disk, raw)
    try:
        replay = subprocess.run(['e2fsck', '-y', '-E', 'journal_only', raw], capture_output=True, text=True)
        if replay.returncode > 1:
            return replay.stdout + replay.stderr
        check = subprocess.run(['e2fsck', '-fn', raw], capture_output=True, text=True)
        return '' if check.returncode == 0 else check.stdout + check.stderr
    finally:
        os.unlink(raw)


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
    frozen, disk = (os.path.join(vm.work, name) for name in ('frozen.qcow2', 'cut.qcow2'))
    base = os.path.join(vm.disk, 'disk.ext4')
    host('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', base, frozen)
    vm.initrd(files())
    freeze(vm, frozen)

    shutil.copyfile(frozen, disk)
    _, first, last = cut(vm, disk)

    cuts = vm.cuts
    booted = {cuts // 2} if vm.quick else {cuts // 3, 2 * cuts // 3, cuts - 1}
    seen = []
    times = []
    for number in range(cuts):
        shutil.copyfile(frozen, disk)
        seen.append(cut(vm, disk, first + (last - first) * number / (cuts - 2))[0])
        trouble = damage(vm, disk)
        assert not trouble, f'cut {number + 1}: {trouble}'
        if number in booted:
            times.append(boot_after(vm, disk, f'after cut {number + 1}'))
            # The next cut needs the gate again.
            vm.initrd(files())
    vm.measured('starts begun/complete when power was cut', ' '.join(f'{begun}/{done}' for begun, done in seen), '')
    vm.measured('user space until all is started, after cuts (this machine\'s time)',
                ' '.join(str(value) for value in times))
    middle = sum(begun > 0 and complete < COUNT for begun, complete in seen)
    # Four are too few to tell by their half whether the times of the cuts are right.
    assert middle >= (1 if vm.quick else cuts // 2), f'only {middle} of {cuts} cuts hit the middle of the starts: {seen}'
