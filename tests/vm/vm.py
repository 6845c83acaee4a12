# SPDX-License-Identifier: LGPL-2.1-or-later
"""A whole machine to test on: QEMU's emulation, Debian's kernel, systemd as the first process.

For writers of scenarios (tests/vm/scenarios/NAME.py; 'tests/vm/run NAME' calls its run(vm)):

    def run(vm):
        report = vm.boot({'etc/containers/systemd/camera.container': '...'},
                         script='systemctl is-active camera')
        assert report.out == 'active\\n', report.trouble()

  boot(files, script, exact=False, cmdline='', disks=(), seconds=1800) -> Report
        Boots the disk, with these files on it: path -> text, None (removed) or Link(target). Nothing of
        what happens in the machine is kept. 'script' is run by bash -eu as a service of the booted
        machine; its exit status and output come back, with the journal and what systemd measured.
  exact=True    counts time in instructions: see README.md. The script then runs at second 60.
  root_disk, memory, throttle   see command()
  disks         paths of ext4 images; the machine has them as /dev/vda, /dev/vdb... and may write to them
  measured(name, value, unit)   a result for people; what is in vm.data is written by --data
  quick, cuts   less is asked for (--ci); how often power_cut and pull_cut cut
  patience      how much longer than those of x86-64 this machine may take
  arch          the machine's architecture, as Debian calls it
  pages         how large its kernel's pages are, in KiB
  build, native   build directories of keyturn: for the machine, and for the one that emulates it; or None

A scenario's SUITE is the Debian that it wants, kernel and all: 'bookworm'; trixie where it says nothing. One with
FOREIGN = True is for machines of another architecture than this one.
A machine that does not end by itself is killed after 'seconds' of this machine's time, which is a failure; of arm64
after three times that: its firmware takes part of it.
"""

import contextlib
import ctypes
import fcntl
import io
import json
import os
import shutil
import signal
import stat
import subprocess
import tarfile
import tempfile
import time

HERE = os.path.dirname(os.path.realpath(__file__))
CACHE = os.environ.get('KEYTURN_TEST_CACHE', '/var/cache/keyturn-tests')

# amd64: No AVX: where the emulation knows it at all, it is new, and glibc would use it everywhere. Random numbers,
# because otherwise a boot waits for the kernel's pool, which no machine with keyturn in it has to. No CMPXCHG16B:
# QEMU 7.2 now and then garbles the flags after it, and the kernel's allocator dies of that.
# arm64: The Raspberry Pi 4's processor. The firmware is for the sake of ACPI, without which there is no NVDIMM.
MACHINES = {
    'amd64': {'console': 'ttyS0', 'patience': 1, 'command': (
        'qemu-system-x86_64', '-machine', 'q35,nvdimm=on', '-cpu', 'Nehalem,+rdrand,-cx16')},
    'arm64': {'console': 'ttyAMA0', 'patience': 3, 'command': (
        'qemu-system-aarch64', '-machine', 'virt,nvdimm=on', '-cpu', 'cortex-a72',
        '-bios', '/usr/share/qemu-efi-aarch64/QEMU_EFI.fd', '-device', 'virtio-rng-pci')},
}
# The Raspberry Pi 5's, whose usual kernel has pages of 16 KiB; the one before does not know them.
LARGE_PAGES = ('-cpu', 'cortex-a76')
MINE = {'x86_64': 'amd64', 'aarch64': 'arm64'}.get(os.uname().machine)
DISK_SIZE = '1536M'

# Whatever happens between the kernel's start and this second is over; idle time costs nothing.
SCRIPT_AT_SECOND = 60

PORT = '''
for port in /sys/class/virtio-ports/*; do
        if [ "$(cat "$port/name")" = report ]; then report=/dev/${port##*/}; fi
done
'''

# Runs the scenario's script, then collects what any scenario may want to look at.
MAIN = PORT + r'''
mkdir -p /run/vm/report
cd /run/vm/report
bash -eu /etc/vm/script >out 2>err </dev/null
echo $? >status
journalctl --sync
systemctl show --property=KernelTimestampMonotonic,UserspaceTimestampMonotonic,FinishTimestampMonotonic,\
GeneratorsStartTimestampMonotonic,GeneratorsFinishTimestampMonotonic,UnitsLoadStartTimestampMonotonic,\
UnitsLoadFinishTimestampMonotonic,SystemState,NFailedUnits >manager
systemd-analyze time >analyze 2>&1
systemd-analyze plot --no-legend --json=short >plot.json 2>plot.err
systemctl --failed --plain --no-legend --no-pager >failed
getconf PAGESIZE >page-size
journalctl --quiet --no-pager --all --output=short-monotonic >journal
for unit in $(cat /etc/vm/units); do systemctl show "$unit" >"unit.$unit"; done
tar -c . >"$report"
systemctl poweroff -ff
'''

UNIT = '''
[Unit]
Description=Scenario
DefaultDependencies=no
After=multi-user.target
# So that a soft reboot stops it, and starts it again.
Conflicts=shutdown.target
Before=shutdown.target

[Service]
Type=exec
ExecStart=/bin/bash /etc/vm/main
StandardOutput=journal+console
TimeoutStopSec=2
'''

TIMER = f'''
[Unit]
Description=When the boot is over
DefaultDependencies=no

[Timer]
OnBootSec={SCRIPT_AT_SECOND}s
AccuracySec=1us
'''


libc = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


def die_with_us():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def emulator():
    """Waits until one more may run on this machine: each needs a processor, and another beside it now and then.
    KEYTURN_TEST_EMULATORS says another number, for a machine that does nothing else."""
    slots = int(os.environ.get('KEYTURN_TEST_EMULATORS', max(1, (os.cpu_count() or 1) // 2)))
    while True:
        for slot in range(slots):
            with open(os.path.join(CACHE, f'.lock-qemu-{slot}'), 'w') as lock:
                with contextlib.suppress(BlockingIOError):
                    # Where there is only one, those who wait get it in the order in which they came.
                    fcntl.flock(lock, fcntl.LOCK_EX | (fcntl.LOCK_NB if slots > 1 else 0))
                    yield
                    return
        time.sleep(0.2)


class HarnessError(Exception):
    """The harness itself could not do its work; never a verdict on keyturn."""


class Link(str):
    """A file that is a symbolic link; the text is where to."""


def host(*command, **kwargs):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **kwargs)
    except FileNotFoundError:
        raise HarnessError(f"'{command[0]}' is not installed on this machine; see tests/vm/README.md") from None
    if done.returncode != 0:
        raise HarnessError(f'{" ".join(command)} failed with {done.returncode}')
    return done.stdout


def cpio_member(name, mode, content, number):
    """One file of an archive that the kernel unpacks (format 'newc')."""
    name = name.encode() + b'\0'
    head = '070701' + ''.join(f'{field:08x}' for field in (
        number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0))
    member = head.encode() + name
    member += b'\0' * (-len(member) % 4) + content
    return member + b'\0' * (-len(member) % 4)


def archive(files):
    """The scenario's files, as initrd-init expects them."""
    members = [('scenario', stat.S_IFDIR | 0o755, b''), ('scenario/files', stat.S_IFDIR | 0o755, b'')]
    # Also what is to be replaced: a file must not be written through a link that is there.
    remove = ''.join(f'{path}\n' for path in sorted(files))
    members.append(('scenario/remove', stat.S_IFREG | 0o644, remove.encode()))
    made = set()
    for path, text in sorted(files.items()):
        parts = path.split('/')
        for depth in range(1, len(parts)):
            directory = '/'.join(parts[:depth])
            if directory not in made and text is not None:
                made.add(directory)
                members.append(('scenario/files/' + directory, stat.S_IFDIR | 0o755, b''))
        if isinstance(text, Link):
            members.append(('scenario/files/' + path, stat.S_IFLNK | 0o777, text.encode()))
        elif text is not None:
            content = text if isinstance(text, bytes) else text.lstrip('\n').encode()
            members.append(('scenario/files/' + path, stat.S_IFREG | 0o644, content))
    whole = b''.join(cpio_member(*member, number) for number, member in enumerate(members, 1))
    return whole + cpio_member('TRAILER!!!', 0, b'', 0)


class Report:
    """What a machine said about itself before it was switched off."""

    def __init__(self, tar, console):
        self.console = console
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive_file:
            self.files = {member.name[2:]: archive_file.extractfile(member).read().decode(errors='backslashreplace')
                          for member in archive_file if member.isfile()}
        self.out = self.files['out']
        self.status = int(self.files['status'])
        self.journal = self.files['journal']
        self.manager = dict(line.split('=', 1) for line in self.files['manager'].splitlines())

    def __getitem__(self, name):
        return self.files[name]

    def microseconds(self, name):
        return int(self.manager[name + 'TimestampMonotonic'])

    def unit(self, name):
        return dict(line.split('=', 1) for line in self.files['unit.' + name].splitlines() if '=' in line)

    def trouble(self, lines=60):
        journal = '\n'.join(line for line in self.journal.splitlines() if ' kernel: ' not in line)
        return (f'script: {self.status}\nout:\n{self.out}\nerr:\n{self["err"]}\nfailed:\n{self["failed"]}\n'
                f'journal:\n' + '\n'.join(journal.splitlines()[-lines:]))


def make_disk(suite, build=None, arch=MINE, pages=4, kernel=()):
    """The directory with disk, kernel and initrd of that Debian, for a build directory of keyturn or without keyturn."""
    packages = [word for package in kernel for word in ('--kernel', package)]
    return host(os.path.join(HERE, 'disk'), '--arch', arch, '--pages', str(pages), *packages, suite,
                *([build] if build else [])).strip()


class Vm:
    def __init__(self, disk, build=None, keep=None, quick=False, cuts=10, arch=MINE, native=None, pages=4):
        self.disk = disk
        self.arch = arch
        self.pages = pages
        self.patience = MACHINES[arch]['patience']
        self.build = build
        self.native = native
        self.keep = keep
        self.quick = quick
        self.cuts = cuts
        self.data = {}
        self.results = []
        self.boots = 0
        self.work = tempfile.mkdtemp(prefix='keyturn-vm-')

    def close(self):
        shutil.rmtree(self.work)

    def measured(self, name, value, unit='us'):
        self.results.append((name, value, unit))

    # ---- one machine

    def _files(self, files, script, exact, units):
        all_files = {
            'etc/vm/main': MAIN,
            'etc/vm/script': script,
            'etc/vm/units': '\n'.join(units) + '\n',
            'etc/systemd/system/vm-script.service': UNIT,
        }
        if exact:
            all_files['etc/systemd/system/vm-script.timer'] = TIMER
            all_files['etc/systemd/system/timers.target.wants/vm-script.timer'] = Link('../vm-script.timer')
        else:
            all_files['etc/systemd/system/multi-user.target.wants/vm-script.service'] = Link('../vm-script.service')
        all_files.update(files)
        return all_files

    def initrd(self, files, script='true', exact=False, units=()):
        path = os.path.join(self.work, 'initrd')
        with open(path, 'wb') as out, open(os.path.join(self.disk, 'initrd'), 'rb') as base:
            out.write(base.read())
            out.write(b'\0' * (-out.tell() % 4))
            out.write(archive(self._files(files, script, exact, units)))
        return path

    def command(self, exact=False, cmdline='', disks=(), root_disk=None, more=(), memory=1024, throttle=''):
        """QEMU's. root_disk: a qcow2 image to write to, in place of the disk that forgets all writes. memory: MiB.
        throttle: what QEMU's -drive is told of the root disk."""
        console, report = (os.path.join(self.work, name) for name in ('console', 'report'))
        machine = MACHINES[self.arch]
        command = [
            *machine['command'], *(LARGE_PAGES if self.pages > 4 else ()),
            '-accel', 'tcg', '-smp', '1', '-m', f'{memory},slots=2,maxmem=8G',
            '-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none',
            '-rtc', 'base=2027-01-01,clock=vm',
            '-kernel', os.path.join(self.disk, 'vmlinuz'), '-initrd', os.path.join(self.work, 'initrd'),
            '-append', f'console={machine["console"]} quiet systemd.show_status=0 panic=-1 rw '
                       f'root={"/dev/vda" if root_disk else "/dev/pmem0"} {cmdline}',
            '-serial', 'file:' + console,
            '-device', 'virtio-serial-pci,id=serial',
            '-chardev', 'file,id=report,path=' + report,
            '-device', 'virtserialport,bus=serial.0,chardev=report,name=report',
        ]
        # A network card that leads nowhere, in QEMU itself: its answers take no time of this machine.
        command += ['-netdev', 'hubport,hubid=0,id=net', '-device', 'virtio-net-pci,netdev=net,romfile=']
        if exact:
            command += ['-icount', 'shift=0,sleep=off']
        if root_disk:
            command += ['-drive', f'file={root_disk},format=qcow2,if=none,id=root{throttle and "," + throttle}',
                        '-device', 'virtio-blk-pci,drive=root']
        else:
            # share=off: written to memory, not to the file
            command += ['-object', f'memory-backend-file,id=root,share=off,size={DISK_SIZE},'
                                   f'mem-path={self.disk}/disk.ext4',
                        '-device', 'nvdimm,memdev=root,id=root-disk']
        for number, path in enumerate(disks):
            command += ['-drive', f'file={path},format=raw,if=none,id=disk{number}',
                        '-device', f'virtio-blk-pci,drive=disk{number}']
        return command + list(more)

    @contextlib.contextmanager
    def running(self, command):
        """Starts QEMU, when there is a processor for it, and makes sure that it has ended afterwards."""
        with emulator():
            try:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                           stderr=subprocess.STDOUT, text=True, preexec_fn=die_with_us)
            except FileNotFoundError:
                raise HarnessError(f"'{command[0]}' is not installed; see tests/vm/README.md") from None
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()
                process.wait()
                process.stdout.close()

    def console(self):
        with contextlib.suppress(FileNotFoundError):
            with open(os.path.join(self.work, 'console'), errors='replace') as file:
                return file.read()
        return ''

    def read_report(self):
        with open(os.path.join(self.work, 'report'), 'rb') as file:
            tar = file.read()
        if not tar:
            raise AssertionError('the machine ended without a report; its console:\n' + self.console()[-4000:])
        return Report(tar, self.console())

    def boot(self, files, script='true', exact=False, cmdline='', disks=(), units=(), seconds=1800, root_disk=None,
             **machine):
        self.initrd(files, script, exact, units)
        with self.running(self.command(exact, cmdline, disks, root_disk, **machine)) as process:
            began = time.monotonic()
            try:
                said, _ = process.communicate(timeout=seconds * self.patience)
            except subprocess.TimeoutExpired:
                process.kill()
                raise AssertionError(f'the machine was still running after {time.monotonic() - began:.0f} s; its console:\n'
                                     + self.console()[-4000:]) from None
        if process.returncode != 0:
            raise HarnessError(f'QEMU ended with {process.returncode}: {said}')
        report = self.read_report()
        assert report['page-size'] == f'{self.pages * 1024}\n', f"the machine's pages have {report['page-size'].strip()} bytes"
        report.seconds = time.monotonic() - began
        self.boots += 1
        if self.keep:
            directory = os.path.join(self.keep, f'boot-{self.boots}')
            os.makedirs(directory, exist_ok=True)
            for name, text in dict(report.files, console=report.console).items():
                with open(os.path.join(directory, name), 'w') as file:
                    file.write(text)
        return report


def dump_json(data, path):
    with open(path + '.new', 'w') as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write('\n')
    os.rename(path + '.new', path)
