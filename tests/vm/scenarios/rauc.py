# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two partitions and RAUC, as keyturn-system-image(7) says: an update, one whose camera is ill, one in which power is cut,
and (but for --ci) that one once more."""

import base64
import contextlib
import os
import shutil
import socket
import struct
import subprocess
import sys
import time

from vm import HERE, MACHINES, PORT, HarnessError, host

sys.path.insert(0, os.path.join(HERE, '../booted/guides'))

import page  # noqa: E402

PAGE = os.path.join(HERE, '../../man/keyturn-system-image.7.md')
MIB = 1 << 20
# The loader's files, two roots, and /var: first MiB, and how many.
PARTITIONS = ((1, 31), (32, 400), (432, 400), (832, 128))
GRUB_MODULES = ('biosdisk', 'part_msdos', 'ext2', 'normal', 'linux', 'loadenv', 'eval', 'test', 'echo', 'boot')

FSTAB = '''
/dev/vda1 /boot/grub ext4 defaults 0 0
/dev/vda4 /var ext4 defaults 0 0
/dev/vdb /media ext4 ro 0 0
'''
STORAGE = '''
[storage]
driver = "overlay"
graphroot = "/var/lib/containers/storage"
runroot = "/run/containers/storage"
[storage.options]
additionalimagestores = ["/usr/share/containers/storage"]
'''
CAMERA = '''#!/bin/sh
case ${{1:-}} in
--is-well) exec test {well} ;;
esac
echo "version {version}" >>/frames/log
trap 'exit 0' TERM
while :; do sleep 1000 & wait; done
'''
# What we type comes in by a port, and goes back there, in lines of base64.
SHELL = PORT + r'''
exec 3<>"$report"
. /etc/os-release
echo "ready $IMAGE_VERSION" >&3
while read -r line <&3; do
        out=$(base64 -d <<<"$line" | bash 2>&1 | base64 -w 0; exit "${PIPESTATUS[1]}") && status=0 || status=$?
        echo "$status $out" >&3
done
'''
SHELL_UNIT = '''
[Unit]
After=multi-user.target

[Service]
ExecStart=/bin/bash /etc/shell
Restart=always
'''


class Machine:
    """One that may reboot, and is spoken to while it runs."""

    def __init__(self, vm, process, path):
        self.vm, self.process = vm, process
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + 120
        while self.socket.connect_ex(path):
            if time.monotonic() > deadline:
                raise HarnessError('QEMU does not answer')
            time.sleep(0.05)
        self.lines = self.socket.makefile('r')

    def line(self, seconds):
        self.socket.settimeout(seconds * self.vm.patience)
        try:
            text = self.lines.readline()
        except TimeoutError:
            text = ''
        assert text, 'the machine says nothing; its console:\n' + self.vm.console()[-4000:]
        return text.rstrip('\n')

    def wait_for_boot(self, version):
        """Also through another one that does not last."""
        while self.line(1200) != f'ready {version}':
            pass

    def run(self, command, check=True, seconds=1200):
        self.socket.sendall(base64.b64encode(command.encode()) + b'\n')
        status, _, out = self.line(seconds).partition(' ')
        out = base64.b64decode(out).decode()
        assert not check or status == '0', f'{command}\nended with {status}:\n{out}{self.trouble()}'
        return out

    def trouble(self):
        return self.run('journalctl --no-pager --lines=60 _PID=1 + SYSLOG_IDENTIFIER=rauc + _COMM=libstart', check=False)

    def reboot(self, version):
        self.run('systemctl reboot --no-block')
        self.wait_for_boot(version)


@contextlib.contextmanager
def running(vm, disk, bundles, version):
    path = os.path.join(vm.work, 'shell')
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    command = [
        *MACHINES[vm.arch]['command'], '-accel', 'tcg', '-m', '1024', '-nodefaults', '-no-user-config', '-display', 'none',
        '-rtc', 'base=2027-01-01,clock=vm', '-serial', 'file:' + os.path.join(vm.work, 'console'),
        '-device', 'virtio-serial-pci,id=serial', '-chardev', f'socket,id=report,path={path},server=on,wait=off',
        '-device', 'virtserialport,bus=serial.0,chardev=report,name=report',
    ]
    for name, file in (('disk', disk), ('bundles', bundles)):
        command += ['-drive', f'file={file},format=raw,if=none,id={name}', '-device', f'virtio-blk-pci,drive={name}']
    with vm.running(command) as process:
        machine = Machine(vm, process, path)
        machine.wait_for_boot(version)
        yield machine


def write(directory, path, text):
    path = os.path.join(directory, path.lstrip('/'))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w') as file:
        file.write(text.lstrip('\n'))
    return path


def recipe():
    """The page's files by their paths, and its commands: what is typed where the root is built, and what on the machine."""
    steps = page.steps(PAGE)
    files = {step.path: step.text.split('\n', 1)[1] for step in steps if isinstance(step, page.File)}
    key, bundle, install, reboot = (step.text for step in steps if isinstance(step, page.Command))
    assert reboot == 'systemctl reboot', reboot
    return files, key, bundle, install


def make_version(vm, files, version, well, commands):
    """The file system of that version's root, and whatever else the commands leave beside it."""
    out = os.path.join(vm.work, 'srv')
    tree = os.path.join(vm.work, f'files-{version}')
    shutil.rmtree(tree, ignore_errors=True)
    for path, text in files.items():
        if path.startswith('/srv/'):
            write(vm.work, path, text.replace('version=2', f'version={version}'))
        elif not path.startswith('/boot/'):
            write(tree, path, text)
    with open(os.path.join(out, 'cert.pem')) as certificate:
        write(tree, '/etc/rauc/cert.pem', certificate.read())
    write(tree, '/etc/fstab', FSTAB)
    write(tree, '/etc/containers/storage.conf', STORAGE)
    write(tree, '/etc/machine-id', '5f1ab7a0c0ffee5f1ab7a0c0ffee5f1a\n')
    write(tree, '/etc/shell', SHELL)
    write(tree, '/etc/systemd/system/shell.service', SHELL_UNIT)
    write(tree, '/usr/lib/os-release', f'ID=camera\nIMAGE_ID=camera\nIMAGE_VERSION={version}\n')
    os.chmod(write(tree, '/layer/usr/bin/camera', CAMERA.format(version=version, well='1' if well else '')), 0o755)
    wants = os.path.join(tree, 'etc/systemd/system/multi-user.target.wants')
    os.makedirs(wants)
    os.symlink('../shell.service', os.path.join(wants, 'shell.service'))
    os.symlink('/usr/lib/systemd/system/system-is-good.service', os.path.join(wants, 'system-is-good.service'))
    os.makedirs(os.path.join(tree, 'boot/grub'))
    host(os.path.join(HERE, 'system-root'), 'trixie', vm.build, tree, out, *commands)


def file_system(path, directory, mib):
    host('mke2fs', '-q', '-t', 'ext4', '-d', directory, path, f'{mib}m')


def make_disk(vm, files):
    """A disk with GRUB before its first partition, and that version's root in the second."""
    loader, empty = os.path.join(vm.work, 'loader'), os.path.join(vm.work, 'empty')
    os.makedirs(empty)
    write(loader, 'grub.cfg', files['/boot/grub/grub.cfg'])
    host('grub-editenv', os.path.join(loader, 'grubenv'), 'create')
    core = os.path.join(vm.work, 'core.img')
    host('grub-mkimage', '-O', 'i386-pc', '-p', '(hd0,msdos1)/', '-o', core, *GRUB_MODULES)
    parts = [os.path.join(vm.work, f'part-{number}') for number in range(4)]
    file_system(parts[0], loader, PARTITIONS[0][1])
    shutil.copyfile(os.path.join(vm.work, 'srv/bundle/rootfs.ext4'), parts[1])
    file_system(parts[3], empty, PARTITIONS[3][1])
    disk = os.path.join(vm.work, 'disk')
    host('truncate', '--size', f'{PARTITIONS[3][0] + PARTITIONS[3][1]}M', disk)
    for (first, _), part in zip(PARTITIONS, parts):
        if os.path.exists(part):
            host('dd', f'if={part}', f'of={disk}', 'bs=1M', f'seek={first}', 'conv=notrunc,sparse', 'status=none')
    with open('/usr/lib/grub/i386-pc/boot.img', 'rb') as boot, open(core, 'rb') as image, open(disk, 'r+b') as file:
        table = b''.join(struct.pack('<B3xB3xII', 0x80 if number == 0 else 0, 0x83, first * 2048, size * 2048)
                         for number, (first, size) in enumerate(PARTITIONS))
        file.write(boot.read()[:446] + table + b'\x55\xaa' + image.read())
        assert file.tell() <= MIB
    return disk


def make(vm):
    """The machine's disk with version 1, and one that has bundles of three others."""
    files, key, bundle, install = recipe()
    media = os.path.join(vm.work, 'media')
    os.makedirs(media)
    os.makedirs(os.path.join(vm.work, 'srv/bundle'))
    done = subprocess.run(['bash', '-euc', key.replace('/srv/', vm.work + '/srv/')], check=False)
    assert done.returncode == 0, key
    make_version(vm, files, 1, True, ())
    disk = make_disk(vm, files)
    for version in (2, 3, 4):
        made = os.path.join(vm.work, 'srv/update.raucb')
        make_version(vm, files, version, version != 3, [bundle])
        shutil.move(made, os.path.join(media, f'update-{version}.raucb'))
    bundles = os.path.join(vm.work, 'bundles')
    file_system(bundles, media, 900)
    return disk, bundles, install


def is_good(machine, slot, version, log):
    """That system runs, with its own units and filters, and its volume has what all others have written."""
    machine.run('systemctl start system-is-good.service')
    words = machine.run('grep -o "rauc.slot=[AB]" /proc/cmdline; . /etc/os-release; echo $IMAGE_VERSION; systemctl is-active camera')
    assert words.split() == [f'rauc.slot={slot}', str(version), 'active'], words + machine.trouble()
    assert machine.run('cat /var/lib/containers/storage/volumes/frames/_data/log').split() == log
    assert machine.run('systemctl show --property=FragmentPath --value camera') == '/usr/lib/systemd/system/camera.service\n'
    seccomp = machine.run('systemctl show --property=StatusText --value keyturn-seccomp')
    assert ' 0 compiled, 1 from the image' in seccomp, seccomp
    assert f'{slot}_TRY=0' in machine.run('grub-editenv /boot/grub/grubenv list')


def versions(*numbers):
    return [word for number in numbers for word in ('version', str(number))]


def cut_power(machine, install):
    """In the middle of an installation."""
    machine.run(f'systemd-run --quiet --unit=update {install}')
    deadline = time.monotonic() + 1200 * machine.vm.patience
    while True:
        said = machine.run('busctl get-property de.pengutronix.rauc / de.pengutronix.rauc.Installer Progress', check=False)
        if 'Copying image' in said:
            break
        assert time.monotonic() < deadline and 'Installing done' not in said, said + machine.trouble()
    time.sleep(2)
    assert machine.run('systemctl is-active update') == 'active\n'
    machine.process.kill()


def run(vm):
    disk, bundles, install = make(vm)

    def install_of(version):
        return install.replace('update.raucb', f'update-{version}.raucb')

    with running(vm, disk, bundles, 1) as machine:
        is_good(machine, 'A', 1, versions(1))
        began = time.monotonic()
        machine.run(install_of(2))
        vm.measured("rauc install (this machine's time)", f'{time.monotonic() - began:.0f}', 's')
        machine.reboot(2)
        is_good(machine, 'B', 2, versions(1, 2))

        # The third is ill: it gives itself up.
        machine.run(install_of(3))
        machine.reboot(2)
        is_good(machine, 'B', 2, versions(1, 2, 3, 2))
        assert 'A_OK=0' in machine.run('grub-editenv /boot/grub/grubenv list')
        cut_power(machine, install_of(4))

    with running(vm, disk, bundles, 2) as machine:
        is_good(machine, 'B', 2, versions(1, 2, 3, 2, 2))
        # What was good once stays, whatever fails later.
        machine.run('systemctl start system-is-bad')
        assert machine.run('systemctl show --property=ConditionResult --value system-is-bad') == 'no\n'
        if vm.quick:
            return
        machine.run(install_of(4))
        machine.reboot(4)
        is_good(machine, 'A', 4, versions(1, 2, 3, 2, 2, 4))
