# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine whose power is cut again and again, each time at another moment after the same one.

A boot takes 20 s here, fifty would take the whole day's patience. So the machine boots once, up to a gate
(GATE_SERVICE, whose script has GATE in it), and is frozen there with its memory and its disk. From that moment it is
thawed again and again and killed. After each cut the file system's journal is replayed and the disk looked at from
outside.
"""

import contextlib
import json
import os
import re
import socket
import subprocess
import time

from vm import PORT, host

# So that the moment before what is cut is known outside.
GATE = PORT + r'''
echo ready >"$report"
# Frozen somewhere in these seconds, thawed in the same place.
sleep 2
echo over >"$report"
'''
GATE_SERVICE = '''
[Unit]
Description=The moment before
After=basic.target systemd-logind.service systemd-networkd.service

[Service]
Type=oneshot
ExecStart=/bin/bash /etc/vm/gate
'''

# What is said in the machine, to be read while it lives.
CONSOLE = 'systemd.journald.forward_to_console=1'


class Monitor:
    """QEMU's control socket."""

    def __init__(self, path):
        deadline = time.monotonic() + 120
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


def frozen_disk(vm):
    """A disk's image that can be written to and can hold a frozen machine."""
    path = os.path.join(vm.work, 'frozen.qcow2')
    host('qemu-img', 'create', '-q', '-f', 'qcow2', '-F', 'raw', '-b', os.path.join(vm.disk, 'disk.ext4'), path)
    return path


def freeze(vm, disk, tries=5):
    """Boots up to the gate and saves that moment in the disk's image. Returns nothing that lives."""
    while not freeze_in_time(vm, disk):
        tries -= 1
        assert tries > 0, f'{vm.work}: the gate was over each time before the machine was stopped'
        frozen_disk(vm)


def freeze_in_time(vm, disk):
    """Whether the gate was not over: we may stand still, and the machine goes on."""
    qmp = os.path.join(vm.work, 'qmp')
    command = vm.command(root_disk=disk, cmdline=CONSOLE, more=['-qmp', f'unix:{qmp},server=on,wait=off'])
    with vm.running(command) as process:
        monitor = Monitor(qmp)
        deadline = time.monotonic() + 600 * vm.patience
        while 'ready' not in read(vm, 'report'):
            assert process.poll() is None and time.monotonic() < deadline, 'no gate:\n' + vm.console()[-4000:]
            time.sleep(0.02)
        monitor.command('stop')
        if 'over' in read(vm, 'report'):
            return False
        monitor.human('savevm gate')
        return True


def read(vm, name):
    if not os.path.exists(os.path.join(vm.work, name)):
        return ''
    with open(os.path.join(vm.work, name), errors='replace') as file:
        return file.read()


def count(what, console):
    return len(re.findall(what, console))


def cut(vm, disk, moments=(), seconds=0.0, throttle=''):
    """Thaws the machine and kills it that many seconds after the last of these moments was seen, or after the thaw
    where there are none. A moment is a regular expression for what the console says, and how often it has by then.

    Returns what the console said until then, and after how many seconds each moment was seen.
    """
    qmp = os.path.join(vm.work, 'qmp')
    command = vm.command(root_disk=disk, cmdline=CONSOLE, throttle=throttle,
                         more=['-qmp', f'unix:{qmp},server=on,wait=off', '-loadvm', 'gate', '-S'])
    with vm.running(command) as process:
        monitor = Monitor(qmp)
        monitor.command('cont')
        began = time.monotonic()
        seen = []
        while len(seen) < len(moments) or time.monotonic() - began < (seen[-1] if seen else 0) + seconds:
            assert time.monotonic() - began < 600 * vm.patience, f'{moments[len(seen):]}: ' + vm.console()[-4000:]
            time.sleep(0.02)
            while len(seen) < len(moments) and count(moments[len(seen)][0], vm.console()) >= moments[len(seen)][1]:
                seen.append(time.monotonic() - began)
        assert process.poll() is None, 'the machine ended by itself: ' + vm.console()[-2000:]
        process.kill()
    return vm.console(), seen


@contextlib.contextmanager
def replayed(vm, disk, name):
    """A raw image of the file system after its journal was replayed, as by the next mount; it is whole."""
    raw = os.path.join(vm.work, 'cut.ext4')
    host('qemu-img', 'convert', '-O', 'raw', disk, raw)
    try:
        replay = subprocess.run(['e2fsck', '-y', '-E', 'journal_only', raw], capture_output=True, text=True)
        assert replay.returncode <= 1, f'{name}: {replay.stdout}{replay.stderr}'
        check = subprocess.run(['e2fsck', '-fn', raw], capture_output=True, text=True)
        assert check.returncode == 0, f'{name}: {check.stdout}{check.stderr}'
        yield raw
    finally:
        os.unlink(raw)
